import { describe, expect, it } from 'vitest';
import { ApiKeys } from './api-keys.ts';
import { ProviderError } from './provider.ts';

const three = [
  { key: 'a', weight: 3 },
  { key: 'b', weight: 1 },
  { key: 'c', weight: 1 },
];
const limited = (retryAfterMs?: number) =>
  new ProviderError('rate_limited', 'up answered 429', { status: 429, retryAfterMs });
const denied = new ProviderError('auth', 'up answered 401', { status: 401 });

/** Opens keys with a clock that stands still, and a function that says which keys some calls used. */
function open(keys = three) {
  const clock = { ms: 1_000 };
  const opened = new ApiKeys(keys, () => clock.ms);
  const fails = new Map<string | null, ProviderError>();
  const call = async (model = 'm'): Promise<string> => {
    const used: (string | null)[] = [];
    await opened.use(model, async (key) => {
      used.push(key);
      const failure = fails.get(key);
      if (failure !== undefined) throw failure;
    });
    return used.join('');
  };
  const calls = async (count: number, model?: string): Promise<string> => {
    const used: string[] = [];
    for (let index = 0; index < count; index += 1) used.push(await call(model));
    return used.join(' ');
  };
  return { keys: opened, clock, fails, call, calls };
}

describe('the keys of a provider', () => {
  it('take turns by weight', async () => {
    expect(await open().calls(10)).toBe('a b a c a a b a c a');
  });

  it('are asked with in turn: one that is limited rests alone, for that model', async () => {
    const { clock, fails, calls, keys } = open();
    fails.set('a', limited(2_000));
    expect(await calls(4)).toBe('ab c b c');
    expect(await calls(4, 'other')).toMatch(/a[bc]/);
    expect(keys.limitedMs('m')).toBe(0);
    fails.clear();
    clock.ms += 2_000;
    expect(await calls(4)).toContain('a');
  });

  it('rest for every model when they are refused', async () => {
    const { clock, fails, calls } = open();
    fails.set('a', denied);
    expect(await calls(1)).toBe('ab');
    expect(await calls(2, 'other')).toBe('c b');
    clock.ms += 60_000;
    fails.clear();
    expect(await calls(4)).toContain('a');
  });

  it('tell how long to wait when none is admitted, and then begin with the first that is ready', async () => {
    const { clock, fails, call, keys } = open();
    fails.set('a', limited(9_000)).set('b', limited(4_000)).set('c', denied);
    await expect(call()).rejects.toMatchObject({ kind: 'rate_limited', status: 429, retryAfterMs: 4_000 });
    expect(keys.limitedMs('m')).toBe(4_000);
    clock.ms += 1_000;
    fails.clear();
    expect(await call()).toBe('b');
  });

  it('do not try the same key twice in a call, however short its rest is', async () => {
    const { fails, call } = open();
    for (const { key } of three) fails.set(key, limited(0));
    await expect(call()).rejects.toMatchObject({ kind: 'rate_limited' });
  });

  it('are not changed for a failure that is not about the key', async () => {
    const { fails, call } = open();
    fails.set('a', new ProviderError('server', 'up answered 500', { status: 500 }));
    await expect(call()).rejects.toMatchObject({ kind: 'server' });
  });

  it('rest by what the provider says is left', async () => {
    const { keys, calls, clock } = open();
    keys.limit('a', 'm', 500);
    expect(await calls(2)).toBe('b c');
    for (const key of ['b', 'c']) keys.limit(key, 'm', 700);
    expect(keys.limitedMs('m')).toBe(500);
    expect(keys.limitedMs('other')).toBe(0);
    clock.ms += 500;
    expect(keys.limitedMs('m')).toBe(0);
  });
});

describe('a single key', () => {
  it('has its failures passed on as they are', async () => {
    const { fails, call, keys } = open([{ key: 'a', weight: 1 }]);
    fails.set('a', denied);
    await expect(call()).rejects.toBe(denied);
    expect(keys.limitedMs('m')).toBe(0);
  });

  it('may be none', async () => {
    expect(await open([]).calls(2)).toBe(' ');
  });
});
