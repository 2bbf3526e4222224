// A child process of the benchmark: a lean proxy that does the least for a signed, durable receipt of each call. It routes and
// checks nothing and needs no key: it parses and hashes request and answer, signs a receipt of the usual length, and stores it.

import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { openStore, serveProxy } from './gateway-proxy.ts';

const [upstream = '', file = ':memory:'] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync('ed25519');
const store = openStore(file);
const FILLER = 'x'.repeat(1_200);

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

serveProxy(upstream, (_authorization, bytes, send) => {
  const request = JSON.parse(bytes.toString()) as object;
  const requestHash = hash(bytes);
  send(JSON.stringify({ ...request, max_completion_tokens: 1_024 }), (payload, respond) => {
    const completion = JSON.parse(payload.toString()) as object;
    const id = crypto.randomUUID();
    const claims = JSON.stringify({ id, request: requestHash, response: hash(payload), filler: FILLER });
    const signature = sign(null, Buffer.from(claims), privateKey).toString('base64');
    const receipt = { claims, signature };
    store(id, JSON.stringify(receipt), () => respond(JSON.stringify({ ...completion, svc: { receipt } })));
  });
});
