// A child of the benchmark, pinned to the server's core: measures the raw limits that the server is held
// against. Reads one JSON command a line, answers with one JSON line.

import { generateKeyPairSync, hash, verify as rawVerify, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { type JsonValue, parseJson, utf8, verify } from '@tallystick/core';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const message = Buffer.alloc(1024, 7);
const signature = sign(null, message, privateKey);
/** The preimages of an RFC 6962 leaf with seven digits of unit, and of a node. */
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

/** Times of core's own verify, gate included, in milliseconds: sorted. */
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

/** A bare HTTP server that signs or verifies once a request and answers a kilobyte: nothing durable, nothing parsed. */
const bare = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/sign') works.sign();
    else works.verify();
    response.setHeader('content-type', 'application/json').end(message);
  });
});

function listen(): Promise<string> {
  return new Promise((resolve) => {
    bare.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(bare.address() as AddressInfo).port}`));
  });
}

type Command =
  | { measure: 'http' }
  | { measure: keyof typeof works; ms: number }
  | { measure: 'core'; receipt: string; calls: number };

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  if (command.measure === 'core') {
    const times = await coreVerify(command.receipt, command.calls);
    const at = (share: number): number | undefined => times[Math.floor(times.length * share)];
    process.stdout.write(`${JSON.stringify({ p50: at(0.5), p95: at(0.95) })}\n`);
  } else if (command.measure === 'http') {
    process.stdout.write(`${JSON.stringify(await listen())}\n`);
  } else {
    process.stdout.write(`${JSON.stringify(rate(command.ms, works[command.measure]))}\n`);
  }
}
