import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bin, clean, type Ran, type Service, serve, workspace } from './tally.ts';

const { at, tally, remove } = workspace();
const MODEL = 'local/extract-1';
let service: Service;
let key: string;

const here = (args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
  tally(args, { env: { ...service.env, TALLY_API_KEY: key, ...more } });
const jsonOf = async (args: readonly string[]) => {
  const { code, stdout, stderr } = await here([...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

async function call(tags: Record<string, string>): Promise<string> {
  const response = await fetch(`${service.url}/v1/compute/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Who?' }], svc: { tags } }),
  });
  expect(response.status, await response.text()).toBe(200);
  return response.headers.get('x-receipt-id') ?? '';
}

beforeAll(async () => {
  service = await serve(at('data'));
  key = JSON.parse(
    (await tally(['apikey', 'create', '--tier', 'pro', '--json'], { env: service.env })).stdout,
  ).key;
});
afterAll(async () => {
  await service.stop();
  remove();
});

describe('tally calls', () => {
  let ids: string[];
  beforeAll(async () => {
    ids = [await call({ step: '1' }), await call({ step: '2' }), await call({ step: '3' })];
    const listed = async () => (await jsonOf(['calls', 'list'])).data.length === 3;
    await vi.waitUntil(listed, 60_000);
  });

  test('lists calls, newest first, by page and by filter', async () => {
    const first = await jsonOf(['calls', 'list', '--limit', '2']);
    const rest = await jsonOf(['calls', 'list', '--cursor', first.next_cursor]);
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed());
    const { stdout, stderr } = await here(['calls', 'list', '--tag', 'step:2', '--status', 'ok']);
    expect(stdout).toMatch(new RegExp(`^\\S+Z  ${ids[1]}  200  ${MODEL}  \\S+ USDC  \\d+ ms\n$`));
    expect(stderr).toBe('');
    expect(await here(['calls', 'list', '--min-cost', '1000'])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('No call matches.'),
    });
  });

  test('shows one', async () => {
    const [id = ''] = ids;
    expect(await jsonOf(['calls', 'show', id])).toMatchObject({ id, tags: { step: '1' } });
    const { stdout } = await here(['calls', 'show', id]);
    expect(stdout).toContain('step:1');
    expect(stdout).toMatch(/first_byte +at /);
    const missing = await here(['calls', 'show', 'call_1_000000000000', '--json']);
    expect([missing.code, JSON.parse(missing.stdout).error.code]).toEqual([1, 'not_found']);
  });

  test('exports all as NDJSON and as CSV', async () => {
    const lines = (await here(['calls', 'export'])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids.toReversed());
    const { stdout } = await here(['calls', 'export', '--format', 'csv', '--tag', 'step:3']);
    expect(stdout.split('\r\n')).toEqual([
      expect.stringMatching(/^id,/),
      expect.stringContaining(ids[2] ?? '-'),
      '',
    ]);
  });

  test('follows calls as they end', async () => {
    const child = spawn(process.execPath, [bin, 'calls', 'tail', '--json', '--tag', 'of:tail'], {
      env: { ...clean, ...service.env, TALLY_API_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const made = new Set<string>();
    // It takes a moment until it listens.
    const next = lines.next();
    let got: string | undefined;
    const reading = async () => {
      got = (await next).value as string;
    };
    void reading();
    await vi.waitUntil(
      async () => {
        made.add(await call({ of: 'tail' }));
        return got !== undefined;
      },
      { timeout: 60_000, interval: 500 },
    );
    expect(made).toContain(JSON.parse(got ?? '{}').id);
    child.kill('SIGTERM');
    await once(child, 'close');
  });

  test('needs a key, and says what the service refuses', async () => {
    expect(await here(['calls', 'list'], { TALLY_API_KEY: '' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('TALLY_API_KEY'),
    });
    const { code, stdout } = await here(['calls', 'list', '--status', 'fine', '--json']);
    expect([code, JSON.parse(stdout).error]).toMatchObject([1, { code: 'invalid_field', field: 'status' }]);
  });
});

test('tally webhook makes, changes, tests, lists and deletes webhooks', async () => {
  // Nothing listens there.
  const target = 'http://127.0.0.1:9/hook';
  const made = await here(['webhook', 'create', target, 'key.revoked', 'balance.low']);
  expect(made.stdout).toMatch(
    /^(wh_[0-9a-f]{24}) {2}enabled {2}http:\/\/127\.0\.0\.1:9\/hook {2}key\.revoked,balance\.low\nwhsec_\S+\n$/,
  );
  const id = made.stdout.split(' ')[0] ?? '';
  expect((await jsonOf(['webhook', 'list'])).data).toMatchObject([{ id, enabled: true }]);
  const message = (await here(['webhook', 'test', id])).stdout.trim();
  expect((await jsonOf(['webhook', 'deliveries', id])).data).toMatchObject([{ id: message }]);
  expect((await here(['webhook', 'deliveries', id])).stdout).toContain(`${message}  webhook.test`);
  const changed = await here(['webhook', 'update', id, '--disable', '--events', 'key.revoked']);
  expect(changed.stdout).toBe(`${id}  disabled (owner)  ${target}  key.revoked\n`);
  expect(await here(['webhook', 'update', id])).toMatchObject({ code: 2 });
  expect(await jsonOf(['webhook', 'delete', id])).toEqual({ id, deleted: true });
  const gone = await here(['webhook', 'deliveries', id, '--json']);
  expect([gone.code, JSON.parse(gone.stdout).error.code]).toEqual([1, 'webhook_not_found']);
});
