import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODELS_FILE } from '../packages/server/test/models.ts';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { DATABASES } from '../packages/server/test/service.ts';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

const CHAT = '/v1/compute/chat/completions';
const BODY = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Say it.' }],
  max_tokens: 20,
};
/** Of a call of that model, and of a day, in nano-USDC. */
const PRICE = 6_300n;
const BUDGET = 100_000n;
const CALLS = 50;

type Reply = Awaited<ReturnType<typeof post>>;

interface Made {
  readonly id: string;
  readonly key: string;
}

describe.each(DATABASES)('a budget that two processes share, on %s', (database) => {
  let postgres: TestPostgres | undefined;
  let upstream: Upstream;
  let env: Env;
  let servers: Served[];
  let owner: Made;

  beforeAll(async () => {
    const dataDir = temporaryFolder();
    upstream = await startUpstream();
    if (database === 'postgres') postgres = await startPostgres();
    env = {
      ...(postgres !== undefined && { TALLY_DATABASE_URL: await postgres.url('budgets') }),
      TALLY_DATA_DIR: dataDir,
      TALLY_KEYRING: join(dataDir, 'keyring.json'),
      TALLY_DEVNET: 'off',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      TALLY_CONFIG: MODELS_FILE,
      OPENAI_API_KEY: 'sk-operator',
    };
    servers = [await serve(env)];
    servers.push(await serve(env));
    owner = JSON.parse(await done('apikey', 'create', '--tier', 'pro', '--json')) as Made;
    await done('ledger', 'credit', owner.id, '10');
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill('SIGKILL')));
    await upstream.close();
    await postgres?.stop();
  });

  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await tally(args, env);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const bearer = ({ key }: Made) => ({ authorization: `Bearer ${key}` });
  const make = async (body: object): Promise<Made> => {
    const reply = await post(`${servers[0]?.url}/v1/keys`, body, bearer(owner));
    expect(reply.status, reply.text).toBe(201);
    return JSON.parse(reply.text) as Made;
  };
  const chat = (index: number, key: Made) =>
    post(`${servers[index % servers.length]?.url}${CHAT}`, BODY, bearer(key));
  /** What the calls of these keys were charged today, in nano-USDC. */
  const spent = async (keys: readonly Made[]): Promise<bigint> => {
    const answer = await fetch(`${servers[1]?.url}/v1/keys`, { headers: bearer(owner) });
    const { data } = (await answer.json()) as { data: { id: string; spent: { day_usdc: string } }[] };
    const amounts = data
      .filter(({ id }) => keys.some((key) => key.id === id))
      .map(({ spent: { day_usdc } }) => BigInt(Math.round(Number(day_usdc) * 1e9)));
    return amounts.reduce((sum, amount) => sum + amount, 0n);
  };

  /** What the owner's keys may spend a day together, as a process knows it for calls with one of them, in nano-USDC. */
  const ownersDay = async (key: Made, url: string): Promise<bigint> => {
    const answer = await fetch(`${url}/v1/limits`, { headers: bearer(key) });
    const { data } = (await answer.json()) as { data: { spender: string; limits: { day_usdc?: string } }[] };
    const found = data.find(({ spender }) => spender === owner.id);
    return BigInt(Math.round(Number(found?.limits.day_usdc ?? 0) * 1e9));
  };

  const isRefused = (reply: Reply | undefined) => reply?.text.includes('budget_exceeded') === true;
  /** Makes calls at once through both processes, then more of them until one is refused. @returns what they were charged */
  const useUp = async (keys: readonly Made[]): Promise<bigint> => {
    const before = upstream.requests.length;
    const call = (index: number) => chat(index, keys[Math.floor(index / 2) % keys.length] as Made);
    const replies = await Promise.all(Array.from({ length: CALLS }, (_, index) => call(index)));
    for (let index = 0; !isRefused(replies.at(-1)); index += 1) replies.push(await call(index));
    const served = replies.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThan(0);
    const refused = replies.filter(({ status }) => status !== 200).map(({ text }) => JSON.parse(text).code);
    expect(refused).toContain('budget_exceeded');
    // On a busy machine a call may wait too long for the database. It is then not served either.
    expect(refused.filter((code) => code !== 'budget_exceeded' && code !== 'unavailable')).toEqual([]);
    expect(upstream.requests).toHaveLength(before + served);
    const charged = await spent(keys);
    expect(charged).toBe(BigInt(served) * PRICE);
    return charged;
  };

  it('is never exceeded by 50 calls at once, of one key', async () => {
    const key = await make({ name: 'limited', limits: { day_usdc: '0.0001' } });
    expect(await useUp([key])).toBeLessThanOrEqual(BUDGET);
  });

  it('is never exceeded by 50 calls at once, of two keys whose owner is limited', async () => {
    const one = await make({ name: 'one', manages: true });
    const keys = [one, await make({ name: 'two' })];
    // The owner's spending holds that of every key that it made.
    const day = (await spent([owner])) + BUDGET;
    await done('apikey', 'limit', owner.id, JSON.stringify({ day_usdc: (Number(day) / 1e9).toFixed(9) }));
    // With PostgreSQL, what another process sets counts within a second. A process remembers the row of a key that it was
    // shown apart from the row of that key as an owner, so the question is asked with a key of the owner.
    for (const { url } of servers) await expect.poll(() => ownersDay(one, url)).toBe(day);
    expect(await useUp(keys)).toBeLessThanOrEqual(BUDGET);
  });
});
