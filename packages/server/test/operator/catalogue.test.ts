import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, serve, workspace } from '../../../cli/test/tally.ts';
import { MODELS_FILE } from '../models.ts';
import { startUpstream, type Upstream } from '../upstream.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

const list = (name: string): string => fileURLToPath(new URL(`../prices/${name}`, import.meta.url));
const LITELLM = list('litellm-excerpt.json');
const OPENROUTER = list('openrouter.json');

interface Imported {
  changes: {
    id: string;
    change: string;
    members: Record<string, unknown>;
    differences: { member: string; before: string | null; after: string }[];
  }[];
}

async function imported(...args: string[]): Promise<Imported['changes']> {
  const { stdout, code } = await tally([
    'catalogue',
    'import',
    ...args,
    '--json',
    '--dry-run',
    '--config',
    at('no.json'),
  ]);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as Imported).changes;
}

describe('tally catalogue import', () => {
  test('compares LiteLLM’s list with the catalogue: the day is newer, the prices are the same', async () => {
    const changes = await imported(LITELLM, '--read-on', '2030-01-01');
    expect(changes.map(({ id }) => id)).toEqual([
      'anthropic/claude-haiku-5-5',
      'gemini/gemini-3.8-flash',
      'groq/openai/gpt-oss-120b',
      'openai/gpt-6-luna',
      'openai/gpt-6.1-terra',
      'openai/text-embedding-3-small',
    ]);
    const haiku = changes[0]?.members['price'] as { tariffs: object[] };
    expect(haiku).toMatchObject({
      input: '0.1',
      output: '0.5',
      cache_read: '0.01',
      cache_write: '0.125',
      cache_write_long: '0.2',
      source: {
        page: 'https://platform.claude.com/docs/en/models/haiku-5-5/overview',
        read_on: '2030-01-01',
      },
    });
    expect(haiku.tariffs).toContainEqual(
      expect.objectContaining({ above_tokens: 100_000, input: '0.5', output: '2.5', cache_write_long: '1' }),
    );
  });

  test('takes the dearer of two entries for one model, whatever their order', async () => {
    const entry = (input: number) => ({
      litellm_provider: 'gemini',
      mode: 'chat',
      max_input_tokens: 1_000,
      max_output_tokens: 100,
      input_cost_per_token: input,
      output_cost_per_token: 2 * input,
    });
    const list = {
      'gemini/twice': entry(0),
      twice: entry(3e-7),
      other: entry(5e-7),
      'gemini/other': entry(1e-7),
    };
    writeFileSync(at('twice.json'), JSON.stringify(list));
    const changes = await imported(at('twice.json'), '--read-on', '2030-01-01', '--add', 'gemini/*');
    const prices = changes.map(({ id, members }) => [id, (members['price'] as { input: string }).input]);
    expect(prices).toEqual([
      ['gemini/other', '0.5'],
      ['gemini/twice', '0.3'],
    ]);
  });

  test('adds what is asked for, without models that are shut down', async () => {
    const changes = await imported(
      LITELLM,
      '--add',
      'bedrock/*',
      'openai/gpt-4.1-nano',
      'openai/text-embedding-3-small',
    );
    const added = changes.filter(({ change }) => change === 'added');
    // The last one is in the catalogue already.
    expect(added.map(({ id }) => id)).toEqual(['bedrock/amazon.nova-lite-v1:0']);
    expect(added[0]?.members).toMatchObject({
      kind: 'chat',
      context: 300_000,
      max_output: 10_000,
      abilities: ['tools', 'vision', 'json', 'stream'],
      price: { input: '0.06', output: '0.24' },
      prior: { general: 0.5 },
    });
  });

  test('reads OpenRouter’s list, and leaves out what has no fixed price', async () => {
    const changes = await imported(OPENROUTER, '--add', 'openrouter/*', '--read-on', '2026-11-20');
    expect(changes).toMatchObject([
      {
        id: 'openrouter/acme/swift-1',
        members: {
          abilities: ['tools', 'vision', 'json', 'stream'],
          max_output: 16_384,
          retires_at: '2099-01-31',
          price: {
            input: '0.15',
            output: '0.6',
            cache_read: '0.075',
            source: { page: 'https://openrouter.ai/api/v1/models', read_on: '2026-11-20', copy: true },
          },
        },
      },
    ]);
  });

  test('writes nothing without --yes, then what it showed, and finds nothing to change again', async () => {
    const config = at('config.json');
    const own = {
      settings: { PORT: 9000 },
      models: [{ id: 'openai/gpt-6-luna', price: { input: '9', output: '9' } }],
    };
    writeFileSync(config, JSON.stringify(own));
    const args = ['catalogue', 'import', LITELLM, '--config', config, '--read-on', '2030-01-01'];
    const shown = await tally(args);
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/^openai\/gpt-6-luna changed\n {2}input: 9 → 0\.1\n {2}output: 9 → 0\.5$/m);
    expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual(own);

    expect(await tally([...args, '--yes'])).toMatchObject({ code: 0 });
    const written = JSON.parse(readFileSync(config, 'utf8'));
    expect(written.settings).toEqual({ PORT: 9000 });
    expect(written.models).toContainEqual(
      expect.objectContaining({ id: 'openai/gpt-6-luna', price: expect.objectContaining({ input: '0.1' }) }),
    );
    expect(await tally(['config', 'check', config])).toMatchObject({ code: 0 });
    const again = await tally(args);
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toBe('0 changed, 0 added, 0 confirmed.\n');
  });

  test('takes a list from a URL of this machine, and refuses other plain http, a file of another form and no file', async () => {
    const server = createServer((_, response) => response.end(readFileSync(OPENROUTER)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models`;
    try {
      expect((await imported(url, '--add', 'openrouter/*')).map(({ id }) => id)).toEqual([
        'openrouter/acme/swift-1',
      ]);
    } finally {
      server.close();
    }
    const config = ['--config', at('none.json')];
    writeFileSync(at('list.json'), '[1]');
    writeFileSync(at('other.json'), '{"name": "tallystick", "scripts": {"test": "vitest"}}');
    writeFileSync(at('empty.json'), '{"data": [{"id": "a/b"}]}');
    const files = ['list.json', 'missing.json', 'other.json', 'empty.json'].map(at);
    for (const from of ['http://192.0.2.1/models', ...files]) {
      const { code, stderr } = await tally(['catalogue', 'import', from, ...config, '--yes']);
      expect(code).toBe(2);
      expect(stderr).not.toContain('    at ');
    }
    expect(existsSync(at('none.json'))).toBe(false);
    expect(await tally(['catalogue', 'import', LITELLM], { env: { TALLY_CONFIG: '' } })).toMatchObject({
      code: 2,
    });
  });
});

describe('tally catalogue reconcile', () => {
  let upstream: Upstream;
  let service: Service;

  beforeAll(async () => {
    upstream = await startUpstream();
    const env = { OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'k', TALLY_CONFIG: MODELS_FILE };
    service = await serve(at('data'), { env });
  });
  afterAll(async () => {
    await service.stop();
    await upstream.close();
  });

  test('adds up an invoice by model and day, and shows where the books differ', async () => {
    const messages = [{ role: 'user', content: 'Say it.' }];
    const body = { model: 'openai/gpt-4o-mini', messages, svc: { explain: true } };
    let booked = 0n;
    for (let call = 0; call < 2; call += 1) {
      const response = await fetch(`${service.url}/v1/compute/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { svc } = (await response.json()) as { svc: { billing: { provider_cost: { nano: string } } } };
      booked += BigInt(svc.billing.provider_cost.nano);
    }
    expect(booked).toBeGreaterThan(0n);
    const day = new Date().toISOString().slice(0, 10);
    const usd = (nano: bigint): string => (Number(nano) / 1e9).toFixed(9);
    const reconcile = (lines: string[], ...args: string[]) => {
      writeFileSync(at('invoice.csv'), `\ufeff${lines.join('\r\n')}\r\n`);
      return tally(['catalogue', 'reconcile', 'openai', at('invoice.csv'), ...args], { env: service.env });
    };
    const snapshot = 'gpt-4o-mini-2024-07-18';
    const equal = await reconcile([
      'Date,Model,"Input, tokens",Cost (USD)',
      `${day}T00:00:00Z,${snapshot},"1,000",${usd(booked - 1_000n)}`,
      `${day}T01:00:00Z,${snapshot},1,${usd(1_000n)}0001`,
    ]);
    expect(equal).toMatchObject({ code: 0 });
    expect(equal.stdout).toContain('0 of 1 models and days differ');

    const twice = await reconcile(
      ['when;,what,paid', `${day},${snapshot},$${usd(2n * booked)}`, `${day},gpt-unknown,0.5`],
      '--column',
      'day=when;',
      '--column',
      'model=what',
      '--column',
      'amount=paid',
      '--json',
    );
    expect(twice.code).toBe(1);
    expect(JSON.parse(twice.stdout).differences).toEqual([
      expect.objectContaining({ day, model: 'gpt-4o-mini' }),
      { day, model: 'gpt-unknown', invoiced: '0.5', booked: '0', difference: '0.5' },
    ]);
    for (const [lines, problem] of [
      [['date,model', `${day},m`], 'no column for the amount'],
      [['date,model,amount', `${day},m,free`], 'Line 2 has no day'],
      [['date,model,amount'], 'no line beside the first'],
    ] as const) {
      const { code, stderr } = await reconcile([...lines]);
      expect(code).toBe(2);
      expect(stderr).toContain(problem);
    }
  });
});
