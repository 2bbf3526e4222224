// A child process of the benchmark, pinned to the server's core: measures the raw limits that the server is compared
// with. Reads one JSON command per line, and answers each with one JSON line.

import { generateKeyPairSync, hash, verify as rawVerify, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { type JsonValue, parseJson, utf8, verify } from '@tallystick/core';
import { hashSeconds, proofRate, RawAppends, treeSeconds } from './anchor-limits.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const message = Buffer.alloc(1024, 7);
const signature = sign(null, message, privateKey);
/** The preimages of an RFC 6962 leaf, whose unit has seven digits, and of a node. */
const leaf = Buffer.alloc(101, 7);
const node = Buffer.alloc(65, 7);

/** Calls a second of `work`, over `ms` milliseconds. */
function rate(ms: number, work: () => void): number {
  const start = performance.now();
  let calls = 0;
  let now = start;
  while (now - start < ms) {
    for (let i = 0; i < 50; i++) work();
    calls += 50;
    now = performance.now();
  }
  return (calls * 1000) / (now - start);
}

/** Times of core's own verify, JSON parsing included, in milliseconds: sorted. */
async function coreVerify(receipt: string, calls: number): Promise<number[]> {
  const bytes = utf8(receipt);
  const now = Date.now();
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const start = performance.now();
    const document: JsonValue = parseJson(bytes);
    const { integrity } = await verify(document, { now });
    times.push(performance.now() - start);
    if (!integrity) throw new Error('The receipt that is measured does not verify.');
  }
  return times.toSorted((a, b) => a - b);
}

const works = {
  sign: () => void sign(null, message, privateKey),
  verify: () => void rawVerify(null, message, publicKey, signature),
  sha256: () => {
    hash('sha256', leaf, 'binary');
    hash('sha256', node, 'binary');
  },
};

/** An answer to an accepted hash, of the usual length. */
const pending = {
  anchor_ref: 'urn:anchor:pending:2026-11-21T12:00Z:lfls',
  batch_id: '2026-11-21T12:00Z',
  eta_seconds: 9,
};

/**
 * A bare HTTP server. `/json` parses a body and answers with another, which is not stored; other paths sign or verify once
 * per request and answer with a kilobyte: nothing is durable, nothing is parsed.
 */
const bare = createServer((request, response) => {
  if (request.url === '/json') {
    void answerJson(request, response);
    return;
  }
  request.resume().on('end', () => {
    if (request.url === '/sign') works.sign();
    else works.verify();
    response.setHeader('content-type', 'application/json').end(message);
  });
});

async function answerJson(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await json(request);
  response.setHeader('content-type', 'application/json').end(JSON.stringify(pending));
}

function listen(): Promise<string> {
  return new Promise((resolve) => {
    bare.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(bare.address() as AddressInfo).port}`));
  });
}

type Command =
  | { measure: 'http' }
  | { measure: keyof typeof works; ms: number }
  | { measure: 'core'; receipt: string; calls: number }
  | { measure: 'hashes'; leaves: number }
  | { measure: 'tree'; leaves: number }
  | { measure: 'proofs'; file: string; leaves: number; ms: number }
  | { measure: 'open appends'; folder: string; leaves: number }
  | { measure: 'append'; rows: number; ms: number };

let appends: RawAppends | undefined;

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await measure(JSON.parse(line) as Command);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function measure(command: Command): Promise<unknown> {
  switch (command.measure) {
    case 'core': {
      const times = await coreVerify(command.receipt, command.calls);
      const at = (share: number): number | undefined => times[Math.floor(times.length * share)];
      return { p50: at(0.5), p95: at(0.95) };
    }
    case 'http':
      return listen();
    case 'hashes':
      return hashSeconds(command.leaves);
    case 'tree':
      return treeSeconds(command.leaves);
    case 'proofs':
      return proofRate(command.file, command.leaves, command.ms);
    case 'open appends':
      appends = new RawAppends(command.folder, command.leaves);
      return true;
    case 'append':
      return appends?.rate(command.rows, command.ms);
    default:
      return rate(command.ms, works[command.measure]);
  }
}
