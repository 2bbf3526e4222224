// A child process of the benchmark: a lean proxy that does the least for a signed, durable receipt of each call. It routes and
// checks nothing and needs no key: it parses and hashes request and answer, signs a receipt of the usual length, and
// writes it, with the three entries of its bill, in one transaction for all calls of a moment. Both ends are plain event
// handlers: no promise, stream or header object is made for a call.

import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { type Dispatcher, Pool } from 'undici';

const [upstream = '', file = ':memory:'] = process.argv.slice(2);
const pool = new Pool(upstream, { headersTimeout: 0, bodyTimeout: 0 });
const { privateKey } = generateKeyPairSync('ed25519');
const database = new DatabaseSync(file);
database.exec(`
  PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
  CREATE TABLE receipts (number INTEGER PRIMARY KEY, id TEXT, body TEXT NOT NULL);
  CREATE INDEX receipt_ids ON receipts (id);
  CREATE TABLE entries (account TEXT, line INTEGER, posting TEXT, amount INTEGER, PRIMARY KEY (account, line)) WITHOUT ROWID`);
const insertReceipt = database.prepare('INSERT INTO receipts (id, body) VALUES (?, ?)');
const insertEntry = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)');

const FILLER = 'x'.repeat(1_200);
let line = 0;
let waiting: { readonly id: string; readonly body: string; readonly stored: () => void }[] = [];

function store(id: string, body: string, stored: () => void): void {
  waiting.push({ id, body, stored });
  // Two turns, so that calls that are answered in the next one share the flush.
  if (waiting.length === 1) setImmediate(() => setImmediate(commit));
}

function commit(): void {
  const batch = waiting;
  waiting = [];
  database.exec('BEGIN IMMEDIATE');
  for (const { id, body } of batch) {
    insertReceipt.run(id, body);
    line += 1;
    insertEntry.run('caller', line, id, -10);
    insertEntry.run('provider', line, id, 9);
    insertEntry.run('revenue', line, id, 1);
  }
  database.exec('COMMIT');
  for (const { stored } of batch) stored();
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const whole = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);

/** Signs and stores the upstream's answer, then passes it on with its receipt. */
class Answering implements Dispatcher.DispatchHandler {
  readonly #outgoing: ServerResponse;
  readonly #requestHash: string;
  readonly #chunks: Buffer[] = [];
  #status = 0;

  constructor(outgoing: ServerResponse, requestHash: string) {
    this.#outgoing = outgoing;
    this.#requestHash = requestHash;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const payload = whole(this.#chunks);
    const completion = JSON.parse(payload.toString()) as object;
    const id = crypto.randomUUID();
    const claims = JSON.stringify({
      id,
      request: this.#requestHash,
      response: hash(payload),
      filler: FILLER,
    });
    const signature = sign(null, Buffer.from(claims), privateKey).toString('base64');
    const receipt = { claims, signature };
    store(id, JSON.stringify(receipt), () => this.#end({ ...completion, svc: { receipt } }));
  }

  /** The upstream went away, which ends this call and no other. */
  onResponseError(): void {
    this.#outgoing.destroy();
  }

  #end(answer: object): void {
    const text = JSON.stringify(answer);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    this.#outgoing.writeHead(this.#status, headers).end(text);
  }
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const chunks: Buffer[] = [];
  // A client that leaves in the middle of its request, as load generators do at their end, is no fault.
  incoming.on('error', () => outgoing.destroy());
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const bytes = whole(chunks);
    const request = JSON.parse(bytes.toString()) as object;
    const { url = '/', headers } = incoming;
    pool.dispatch(
      {
        path: url,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
        body: JSON.stringify({ ...request, max_completion_tokens: 1_024 }),
      },
      new Answering(outgoing, hash(bytes)),
    );
  });
}

const server = createServer(answer);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`ready on http://127.0.0.1:${port}\n`);
});
