import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, until, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let service: Service;

beforeAll(async () => {
  service = await serve(at('data'));
});
afterAll(async () => {
  await service.stop();
  remove();
});

interface Estimate {
  readonly routing: { readonly inputs: { readonly strategy?: { readonly sort: string } } };
}

const here = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  tally(args, { env: { ...service.env, ...env } });

describe('API keys on the data of a running service', () => {
  const anchoring = (key: string): Promise<Ran> =>
    here(['anchor', '--sha256', 'ab'.repeat(32), '--json'], { TALLY_API_KEY: key });

  test.each(['pro', 'scale', 'enterprise'])(
    'a key of tier %s is shown once and counts at once',
    async (tier) => {
      const { code, stdout } = await here([
        'apikey',
        'create',
        '--tier',
        tier,
        '--label',
        `for ${tier}`,
        '--json',
      ]);
      const made = JSON.parse(stdout);
      expect({ code, made }).toEqual({
        code: 0,
        made: {
          key: expect.stringMatching(/^k_(?:pro|scale|ent)_[0-9A-Za-z]{32}$/),
          id: expect.stringMatching(/^key_[0-9a-z]{16}$/),
          tier,
          label: `for ${tier}`,
        },
      });
      expect((await anchoring(made.key)).code).toBe(0);
      const [listed, shown] = await Promise.all([
        here(['apikey', 'list', '--json']),
        here(['apikey', 'list']),
      ]);
      expect(JSON.parse(listed.stdout)).toContainEqual({
        id: made.id,
        tier,
        label: `for ${tier}`,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        revoked_at: null,
        expires_at: null,
        routing: null,
      });
      expect(shown.stdout).toContain(made.id);
      expect(listed.stdout + shown.stdout).not.toContain(made.key);
    },
  );

  test('alone on standard output, for a variable or a file', async () => {
    const { stdout, stderr } = await here(['apikey', 'create', '--tier', 'pro']);
    expect(stdout).toMatch(/^k_pro_[0-9A-Za-z]{32}\n$/);
    expect(stderr).toMatch(/shown only once/);
  });

  test('a revoked key is refused from the next request on', async () => {
    const { key, id } = JSON.parse((await here(['apikey', 'create', '--tier', 'scale', '--json'])).stdout);
    expect((await anchoring(key)).code).toBe(0);
    expect(await here(['apikey', 'revoke', id])).toMatchObject({ code: 0, stdout: `${id} is revoked.\n` });
    const refused = await anchoring(key);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([1, 'api_key_revoked']);
    const listed = JSON.parse((await here(['apikey', 'list', '--json'])).stdout);
    expect(listed.find((one: { id: string }) => one.id === id).revoked_at).toMatch(/Z$/);
  });

  test('and its calls are routed as was set, until they are not', async () => {
    const { key, id } = JSON.parse((await here(['apikey', 'create', '--tier', 'pro', '--json'])).stdout);
    const sorted = async (): Promise<string | undefined> => {
      const response = await fetch(`${service.url}/v1/compute/estimate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }),
      });
      return ((await response.json()) as Estimate).routing.inputs.strategy?.sort;
    };
    expect(await sorted()).toBeUndefined();
    const routing = '{"provider":{"sort":"price"}}';
    expect((await here(['apikey', 'route', id, routing])).stdout).toBe(`${id} is routed by ${routing}.\n`);
    expect(await sorted()).toBe('price');
    expect(await here(['apikey', 'route', id, '{"provider":{"sort":"colour"}}'])).toMatchObject({ code: 1 });
    expect(await sorted()).toBe('price');
    expect((await here(['apikey', 'route', id, 'null'])).code).toBe(0);
    expect(await sorted()).toBeUndefined();
  });

  test('a key given where its id belongs is not repeated', async () => {
    const { stdout } = await here(['apikey', 'create', '--tier', 'pro']);
    const { code, stderr } = await here(['apikey', 'revoke', stdout.trim()]);
    expect([code, stderr.includes(stdout.trim())]).toEqual([2, false]);
  });

  test('a keyring of before there were API keys gets its secret', async () => {
    const older = await serve(at('older'));
    await older.stop();
    const { api_key_secret: _, ...before } = JSON.parse(readFileSync(at('older/keyring.json'), 'utf8'));
    writeFileSync(at('older/keyring.json'), JSON.stringify(before));
    const again = await serve(at('older'));
    const { stdout } = await tally(['apikey', 'create', '--tier', 'pro'], { env: again.env });
    const env = { ...again.env, TALLY_API_KEY: stdout.trim() };
    const ask = (): Promise<Ran> => tally(['anchor', '--sha256', 'cd'.repeat(32)], { env });
    expect((await until(ask, ({ code }) => code === 0)).stdout).toContain('urn:anchor:pending:');
    await again.stop();
  });
});
