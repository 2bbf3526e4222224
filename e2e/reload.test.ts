import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

const CHAT = '/v1/compute/chat/completions';
const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const env: Env = {
  TALLY_DATA_DIR: at('data'),
  TALLY_CONFIG: at('config.json'),
  TALLY_DEVNET: 'off',
  MINE_KEY_FILE: at('key'),
};
let upstream: Upstream;
let server: Served;

/** As an operator does it: the file is there at every moment, as a whole. */
function put(name: string, text: string): void {
  writeFileSync(at(`${name}.new`), text);
  renameSync(at(`${name}.new`), at(name));
}

function config(price: string, { settings = {}, base = `${upstream.url}/v1`, id = 'mine/one' } = {}): string {
  const described = { context: 128_000, max_output: 100, abilities: ['stream'], prior: { general: 0.5 } };
  return JSON.stringify({
    settings,
    providers: [{ name: 'mine', kind: 'openai', base_url: base, api_key_env: 'MINE_KEY' }],
    models: [{ id, ...described, price: { input: price, output: price } }],
  });
}

interface Called {
  readonly status: number;
  readonly text: string;
}

const call = (more: object = {}): Promise<Called> =>
  post(`${server.url}${CHAT}`, {
    model: 'mine/one',
    messages: [{ role: 'user', content: 'Say it.' }],
    ...more,
  });

async function priceOf(id = 'mine/one'): Promise<unknown> {
  const response = await fetch(`${server.url}/v1/compute/models/${id}`);
  if (response.status !== 200) return response.status;
  const { svc } = (await response.json()) as { svc: { price_per_million_tokens: unknown } };
  return svc.price_per_million_tokens;
}

const reload = () => tally(['reload', '--json'], env);

beforeAll(async () => {
  upstream = await startUpstream();
  put('key', 'sk-first\n');
  put('config.json', config('1'));
  server = await serve(env);
});
afterAll(() => upstream.close());

const keyOf = (index: number): unknown => upstream.requests.at(index)?.headers['authorization'];

it('takes new prices and keys under traffic, and loses no call', async () => {
  const calls: Called[] = [];
  const stop = new AbortController();
  const caller = async (): Promise<void> => {
    while (!stop.signal.aborted) calls.push(await call({ stream: calls.length % 2 === 0 }));
  };
  const callers = Promise.all([caller(), caller(), caller()]);
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(5), { timeout: 60_000 });
  const before = await priceOf();

  // One that is held over the reload ends as it began, at the provider that it began with.
  const { promise: until, resolve: release } = Promise.withResolvers<void>();
  upstream.play({ fault: { kind: 'held', until } });
  const held = call();
  const other = await startUpstream();
  put('key', 'sk-second');
  put('config.json', config('2', { base: `${other.url}/v1` }));
  const { code, stdout } = await reload();
  expect({ code, answer: JSON.parse(stdout) }).toEqual({
    code: 0,
    answer: [{ pid: server.pid, faults: [], restart: [] }],
  });
  const seen = calls.length;
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(seen + 5), { timeout: 60_000 });
  stop.abort();
  release();
  await callers;
  expect((await held).status).toBe(200);
  expect(calls.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  expect(await priceOf()).not.toEqual(before);
  expect(keyOf(0)).toBe('Bearer sk-first');
  expect(keyOf(-1)).toBe('Bearer sk-first');
  expect(other.requests.at(-1)?.headers['authorization']).toBe('Bearer sk-second');

  put('config.json', config('2'));
  expect((await reload()).code).toBe(0);
  expect((await call()).status).toBe(200);
  expect(keyOf(-1)).toBe('Bearer sk-second');
  await other.close();
});

it('refuses a faulty file, says why, and goes on with the one from before', async () => {
  const before = await priceOf();
  for (const [text, expected] of [
    ['{', /is not JSON/],
    [config('2').replace('"price"', '"cost"'), /models\[0\]/],
    [config('0x2'), /models\[0\]\.price\.input/],
    [config('3', { settings: { TALLY_REGION: 'e u' } }), /TALLY_REGION/],
  ] as const) {
    put('config.json', text);
    const { code, stdout } = await reload();
    expect(code).toBe(1);
    expect(JSON.parse(stdout)[0].faults.join()).toMatch(expected);
    expect(await priceOf()).toEqual(before);
    expect((await call()).status).toBe(200);
  }
  put('config.json', config('3'));
  put('key', ' ');
  expect(JSON.parse((await reload()).stdout)[0].faults).toEqual([
    expect.stringMatching(/^MINE_KEY_FILE names/),
  ]);
  put('key', 'sk-second');
});

it('names what needs a restart', async () => {
  put('config.json', config('3', { settings: { TALLY_DRAIN_SECONDS: 7 } }));
  expect(JSON.parse((await reload()).stdout)).toEqual([
    { pid: server.pid, faults: [], restart: ['TALLY_DRAIN_SECONDS'] },
  ]);
});

it('takes new prices of keys', async () => {
  const ladder = async () => {
    const response = await fetch(`${server.url}/pricing`);
    return (await response.json()) as { anchor_tiers: { tier: string; monthly_usd: string | null }[] };
  };
  const pro = async () => (await ladder()).anchor_tiers.find(({ tier }) => tier === 'pro');
  expect(await pro()).toMatchObject({ monthly_usd: '29' });
  put('config.json', config('3', { settings: { TALLY_PRICE_PRO: '31.5' } }));
  expect(JSON.parse((await reload()).stdout)).toEqual([{ pid: server.pid, faults: [], restart: [] }]);
  expect(await pro()).toMatchObject({ monthly_usd: '31.5', annual_usd: '315' });
});

it('reloads on SIGHUP, and forgets models that are no longer offered', async () => {
  put('config.json', config('4', { id: 'mine/two' }));
  process.kill(server.pid, 'SIGHUP');
  await vi.waitFor(async () => expect(await priceOf('mine/two')).not.toBe(404), { timeout: 60_000 });
  expect(await priceOf()).toBe(404);
  expect((await call()).status).toBe(404);
  expect((await call({ model: 'mine/two' })).status).toBe(200);
});

it('says so where nothing runs', async () => {
  expect(await tally(['reload'], { ...env, TALLY_DATA_DIR: at('elsewhere') })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/No process of the service/),
  });
});

it('ends in good order, and leaves no socket', async () => {
  const { code, stderr } = await server.kill('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toContain('the new configuration is refused');
  expect(stderr).not.toContain('sk-second');
  expect(await tally(['reload'], env)).toMatchObject({ code: 2 });
});
