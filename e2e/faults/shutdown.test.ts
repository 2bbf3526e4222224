import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { toBase64url } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payloadsOf, svcIn } from '../../packages/server/test/compute.ts';
import { MODELS_FILE } from '../../packages/server/test/models.ts';
import { startUpstream, type Upstream } from '../../packages/server/test/upstream.ts';
import { MODEL, OPERATOR_KEY } from '../clients.ts';
import { createKey, until, untilAnchored } from '../log-client.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from '../process.ts';
import { expectBooksAgree, Load, untilReady } from './load.ts';

const CALLERS = 8;
/** Answers to wait for before the service is told to stop. */
const ENOUGH = 60;
const messages = [{ role: 'user', content: 'Go on.' }];

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

interface Anonymous {
  /** The receipts that the service acknowledged, by the path that reads each. */
  readonly receipts: Map<string, string>;
  /** Hashes that were taken. */
  readonly hashes: string[];
  /** Resolves when so many were answered. */
  readonly enough: Promise<void>;
  /** Resolves when every caller was refused, to the statuses; null for a connection that was refused. */
  readonly refused: Promise<(number | null)[]>;
}

/** Callers that mint and anchor as fast as they are answered, until they are refused. */
function load({ url }: Served, headers: Env): Anonymous {
  const receipts = new Map<string, string>();
  const hashes: string[] = [];
  const enough = Promise.withResolvers<void>();
  const mint = async (): Promise<number> => {
    const { status, text } = await post(`${url}/v1/receipt/free`, { input: 'x', purpose: 'load' });
    if (status === 200) receipts.set(`/v1/receipt/${JSON.parse(text).receipt_id}`, text);
    return status;
  };
  const anchor = async (): Promise<number> => {
    const hash = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const { status } = await post(`${url}/v1/anchor`, { canonical_sha256: hash }, headers);
    if (status === 200) hashes.push(hash);
    return status;
  };
  const caller = async (number: number): Promise<number | null> => {
    for (;;) {
      const status = await (number % 2 === 0 ? mint() : anchor()).catch(() => null);
      if (status !== 200) return status;
      if (receipts.size + hashes.length >= ENOUGH) enough.resolve();
    }
  };
  const refused = Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
  return { receipts, hashes, enough: enough.promise, refused };
}

const stream = ({ url }: Served): Promise<Response> =>
  fetch(`${url}/v1/compute/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages, stream: true }),
  });

describe('SIGTERM under load, with open streams', () => {
  it('is seen before anything is refused; what is cut is told, receipted and billed; nothing answered is lost', async () => {
    const dataDir = temporaryFolder();
    const env = {
      TALLY_HOME: temporaryFolder(),
      TALLY_DATA_DIR: dataDir,
      TALLY_DEVNET: 'off',
      TALLY_LAME_DUCK_SECONDS: '8',
      TALLY_DRAIN_SECONDS: '4',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      TALLY_CONFIG: MODELS_FILE,
      OPENAI_API_KEY: OPERATOR_KEY,
    };
    const service = await serve(env);
    const { key } = JSON.parse((await tally(['apikey', 'create', '--tier', 'pro', '--json'], env)).stdout);
    const endless = { pieces: Array.from({ length: 3_000 }, () => 'word '), everyMs: 20 };
    upstream.play(endless, endless, { pieces: Array.from({ length: 40 }, () => 'word '), everyMs: 100 });
    const streams = [await stream(service), await stream(service), await stream(service)];
    const { receipts, hashes, enough, refused } = load(service, { authorization: `Bearer ${key}` });
    await enough;

    const ended = service.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(503);
    const late = await post(`${service.url}/v1/receipt/free`, { input: 'late', purpose: 'load' });
    expect(late.status, late.text).toBe(200);
    receipts.set(`/v1/receipt/${JSON.parse(late.text).receipt_id}`, late.text);

    const texts = await Promise.all(streams.map((response) => response.text()));
    const [first = [], second = [], whole = []] = texts.map(payloadsOf);
    expect(whole.at(-1)).toBe('[DONE]');
    for (const payloads of [first, second]) {
      expect(JSON.parse(payloads.at(-2) ?? '')).toMatchObject({ error: { code: 'unavailable' } });
      expect(svcIn(payloads)?.receipt).toMatchObject({ call: { complete: false } });
    }
    for (const status of await refused) expect([503, null]).toContain(status);
    expect(await ended).toMatchObject({ code: 0, stderr: '' });

    const database = new DatabaseSync(join(dataDir, 'tally.db'), { readOnly: true });
    expect(database.prepare('select id from reservations').all()).toEqual([]);
    expect(database.prepare('select account from accounts where reserved <> 0').all()).toEqual([]);
    database.close();

    const again = await serve(env);
    for (const response of streams) {
      const kept = await fetch(`${again.url}/v1/receipt/${response.headers.get('x-receipt-id')}`);
      expect(kept.status).toBe(200);
    }
    for (const [path, text] of receipts) expect(await (await fetch(again.url + path)).text()).toBe(text);
    for (const hash of hashes) {
      expect((await fetch(`${again.url}/v1/anchor/by-hash/${hash}`)).status).toBe(200);
    }
    await again.kill('SIGTERM');
  });
});

describe('SIGTERM under postings and payments', () => {
  it('loses none of them, nor a hash or receipt that was acknowledged', async () => {
    const dataDir = temporaryFolder();
    const env = {
      TALLY_DATA_DIR: dataDir,
      TALLY_LOG_ORIGIN: 'log.example',
      TALLY_ANCHOR_PERIOD_SECONDS: '1',
      TALLY_PAYMENTS: 'x402',
      TALLY_LAME_DUCK_SECONDS: '1',
    };
    const rpcUrl = (): string => readFileSync(join(dataDir, 'devnet/rpc-url'), 'utf8').trim();
    const service = await serve(env);
    const writes = new Load('ending', await createKey('scale', env));
    writes.start(service, rpcUrl());
    await until(
      async () => writes,
      ({ placed, paid }) => placed > 20 && paid > 2,
    );
    await untilAnchored(service.url, 1);
    writes.letEnd();
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
    await writes.stop();
    const again = await serve(env);
    await untilReady(again.url);
    await writes.expectKept(again, env, rpcUrl());
    await expectBooksAgree(env);
    await again.kill('SIGTERM');
  });
});

describe('while the service starts', () => {
  it('answers that it lives and is not ready, and everything else 503', async () => {
    // A database that takes connections and says nothing keeps the service from opening.
    const held: Socket[] = [];
    const database = createServer((socket) => held.push(socket)).listen(0, '127.0.0.1');
    const free = createServer().listen(0, '127.0.0.1');
    await Promise.all([once(database, 'listening'), once(free, 'listening')]);
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const starting = tally(['serve'], {
      PORT: String(port),
      TALLY_DATA_DIR: temporaryFolder(),
      TALLY_DEVNET: 'off',
      TALLY_DATABASE_URL: `postgres://tally@127.0.0.1:${(database.address() as AddressInfo).port}/tally`,
    });
    const url = `http://127.0.0.1:${port}`;
    const statusOf = async (path: string): Promise<number> => (await fetch(url + path)).status;
    await expect.poll(() => statusOf('/healthz').catch(() => null), { timeout: 60_000 }).toBe(200);
    expect(await statusOf('/readyz')).toBe(503);
    const early = await fetch(`${url}/v1/receipt/free`, { method: 'POST', body: '{}' });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await early.json()).toMatchObject({ code: 'unavailable' });
    database.close();
    for (const socket of held) socket.destroy();
    expect((await starting).code).not.toBe(0);
  });
});
