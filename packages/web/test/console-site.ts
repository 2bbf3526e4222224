import { anchoredHash, fromHex, parseJson, toBase64url, utf8 } from '@tallystick/core';
import {
  apiKey,
  receiptIdOf,
  runningClock,
  startTestService,
  type TestService,
} from '../../server/test/service.ts';

/** A service with a development chain on a loopback port, with some data for every page. */
export interface ConsoleSite {
  readonly service: TestService;
  readonly url: string;
  /** API key that made the calls. */
  readonly key: string;
  /** Id of a receipt whose root is final on the chain. */
  readonly anchoredId: string;
  /** Anchored hash of that receipt: 32 bytes. */
  readonly anchoredHash: Uint8Array;
  /** Id of a receipt that was minted without an anchor. */
  readonly plainId: string;
  close(): Promise<void>;
}

const PERIOD_SECONDS = '1';
const MEMBERS = ['did:web:one.example', 'did:web:two.example'];
/** JSON for which the extractive tier needs fewer tokens. */
const ROWS = JSON.stringify(Array.from({ length: 150 }, (_, id) => ({ id, dock: id % 7, hour: id % 24 })));

export async function startConsole(): Promise<ConsoleSite> {
  const env = { TALLY_DEVNET: 'on', TALLY_ANCHOR_PERIOD_SECONDS: PERIOD_SECONDS };
  const service = await startTestService({ clock: runningClock(), env });
  const headers = await apiKey(service, 'pro');
  const minted = await service.post('/v1/receipt/free', { input: 'a', purpose: 'p', anchor: true }, headers);
  const plain = await service.post('/v1/receipt/free', { input: 'b', purpose: 'p' });
  for (const did of MEMBERS) await service.post('/v1/compute/member/register', { did });
  const content = [ROWS, 'Which dock had row 7?'];
  const messages = content.map((text) => ({ role: 'user', content: text }));
  const body = { messages, svc: { compression: 'extractive', budget: 0.3 } };
  for (let call = 0; call < 3; call++) await service.post('/v1/compute/chat/completions', body, headers);
  const hash = fromHex(anchoredHash(parseJson(utf8(minted.text))));
  await anchored(service, hash);
  return {
    service,
    url: await service.listen(),
    key: headers.authorization.replace('Bearer ', ''),
    anchoredId: receiptIdOf(minted.text),
    anchoredHash: hash,
    plainId: receiptIdOf(plain.text),
    close: () => service.close(),
  };
}

/** Resolves once a root over the hash is final on the chain. */
async function anchored(service: TestService, hash: Uint8Array): Promise<void> {
  const path = `/v1/anchor/by-hash/${toBase64url(hash)}`;
  const until = Date.now() + 60_000;
  while (Date.now() < until) {
    if ((await service.get(path)).json['merkle_root'] !== undefined) return;
    await new Promise((tick) => setTimeout(tick, 100));
  }
  throw new Error('The hash was not anchored in a minute.');
}
