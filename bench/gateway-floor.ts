// A child process of the benchmark: the least work for a signed, durable receipt of each call. It routes and checks nothing and
// needs no key: it parses and hashes request and answer, signs a receipt of the usual length, and writes it, with the
// three entries and the three accounts of its bill, in one transaction for all calls of a moment.

import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'undici';

const [upstream = '', file = ':memory:'] = process.argv.slice(2);
const pool = new Pool(upstream);
const { privateKey } = generateKeyPairSync('ed25519');
const database = new DatabaseSync(file);
database.exec(`
  PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE receipts (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE entries (account TEXT, line INTEGER, posting TEXT, amount INTEGER, PRIMARY KEY (account, line)) WITHOUT ROWID;
  CREATE TABLE accounts (account TEXT PRIMARY KEY, balance INTEGER, lines INTEGER) WITHOUT ROWID;
  INSERT INTO accounts VALUES ('caller', 0, 0), ('provider', 0, 0), ('revenue', 0, 0)`);
const insertReceipt = database.prepare('INSERT INTO receipts VALUES (?, ?)');
const insertEntry = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)');
const setAccount = database.prepare(
  'UPDATE accounts SET balance = balance + ?, lines = lines + ? WHERE account = ?',
);

const FILLER = 'x'.repeat(1_200);
const AMOUNTS = { caller: -10, provider: 9, revenue: 1 };
let line = 0;
let waiting: { readonly id: string; readonly body: string; readonly stored: () => void }[] = [];

function store(id: string, body: string): Promise<void> {
  return new Promise((stored) => {
    waiting.push({ id, body, stored });
    if (waiting.length === 1) setImmediate(() => setImmediate(commit));
  });
}

function commit(): void {
  const batch = waiting;
  waiting = [];
  database.exec('BEGIN IMMEDIATE');
  for (const { id, body } of batch) {
    insertReceipt.run(id, body);
    line += 1;
    for (const [account, amount] of Object.entries(AMOUNTS)) insertEntry.run(account, line, id, amount);
  }
  for (const [account, amount] of Object.entries(AMOUNTS))
    setAccount.run(amount * batch.length, batch.length, account);
  database.exec('COMMIT');
  for (const { stored } of batch) stored();
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await buffer(incoming);
  const request = JSON.parse(body.toString()) as object;
  const sent = JSON.stringify({ ...request, max_completion_tokens: 1_024 });
  const { url = '/', headers } = incoming;
  const reply = await pool.request({
    path: url,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
    body: sent,
  });
  const payload = Buffer.from(await reply.body.arrayBuffer());
  const completion = JSON.parse(payload.toString()) as object;
  const id = crypto.randomUUID();
  const claims = JSON.stringify({ id, request: hash(body), response: hash(payload), filler: FILLER });
  const signature = sign(null, Buffer.from(claims), privateKey).toString('base64');
  const receipt = { claims, signature };
  await store(id, JSON.stringify(receipt));
  const text = JSON.stringify({ ...completion, svc: { receipt } });
  outgoing.writeHead(reply.statusCode, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
}

const server = createServer((...call) => void answer(...call));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`ready on http://127.0.0.1:${port}\n`);
});
