// A lean proxy for child processes of the benchmark. Both ends are plain event handlers: no promise, stream or header object is made
// for a call. Receipts are written, each with the three entries of its bill, in one transaction for all calls of a moment.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { type Dispatcher, Pool } from 'undici';

/** Ends a call. @param payload the upstream's answer @param respond sends the answer's JSON to the caller */
type End = (payload: Buffer, respond: (text: string) => void) => void;

/**
 * Begins a call. @param bytes the request's body @param send passes the call on with this body
 */
export type Begin = (authorization: string, bytes: Buffer, send: (body: string, end: End) => void) => void;

/** Opens the store. @returns what stores a receipt, and calls `stored` once it is durable */
export function openStore(file: string): (id: string, body: string, stored: () => void) => void {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
    CREATE TABLE receipts (number INTEGER PRIMARY KEY, id TEXT, body TEXT NOT NULL);
    CREATE INDEX receipt_ids ON receipts (id);
    CREATE TABLE entries (account TEXT, line INTEGER, posting TEXT, amount INTEGER, PRIMARY KEY (account, line)) WITHOUT ROWID`);
  const insertReceipt = database.prepare('INSERT INTO receipts (id, body) VALUES (?, ?)');
  const insertEntry = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)');
  let line = 0;
  let waiting: { readonly id: string; readonly body: string; readonly stored: () => void }[] = [];

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

  return (id, body, stored) => {
    waiting.push({ id, body, stored });
    // Two turns, so that calls that are answered in the next one share the flush.
    if (waiting.length === 1) setImmediate(() => setImmediate(commit));
  };
}

const whole = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);

/** Gathers the upstream's answer, and answers the caller with what the call's end makes of it. */
class Answering implements Dispatcher.DispatchHandler {
  readonly #outgoing: ServerResponse;
  readonly #end: End;
  readonly #chunks: Buffer[] = [];
  #status = 0;

  constructor(outgoing: ServerResponse, end: End) {
    this.#outgoing = outgoing;
    this.#end = end;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end(whole(this.#chunks), (text) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      this.#outgoing.writeHead(this.#status, headers).end(text);
    });
  }

  /** The upstream went away, which ends this call and no other. */
  onResponseError(): void {
    this.#outgoing.destroy();
  }
}

/** Serves calls on a free port, and prints the address. */
export function serveProxy(upstream: string, begin: Begin): void {
  const pool = new Pool(upstream, { headersTimeout: 0, bodyTimeout: 0 });
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const chunks: Buffer[] = [];
    // A client that leaves in the middle of its request, as load generators do at their end, is no fault.
    incoming.on('error', () => outgoing.destroy());
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { url = '/', headers } = incoming;
      const { authorization = '' } = headers;
      begin(authorization, whole(chunks), (body, end) => {
        const sent = { 'content-type': 'application/json', authorization };
        pool.dispatch({ path: url, method: 'POST', headers: sent, body }, new Answering(outgoing, end));
      });
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`ready on http://127.0.0.1:${port}\n`);
  });
}
