import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let service: Service;
let partner: string;

const POLICY = {
  jurisdiction: 'eu',
  policy: [
    { concept: 'retention', days: 90 },
    { concept: 'purpose', basis: 'contract', mood: 'good' },
    { concept: 'region_transfer', region: 'eu' },
  ],
};

beforeAll(async () => {
  service = await serve(at('data'));
  partner = (await here(['apikey', 'create', '--scope', 'partner'])).stdout.trim();
  writeFileSync(at('policy.json'), JSON.stringify(POLICY));
});
afterAll(async () => {
  await service.stop();
  remove();
});

const here = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  tally(args, { env: { ...service.env, ...env } });
const normalize = (...args: string[]): Promise<Ran> =>
  here(['rosetta', 'normalize', ...args], { TALLY_API_KEY: partner });

describe('tally apikey create', () => {
  test('--scope partner makes a partner’s key, and lists it', async () => {
    expect(partner).toMatch(/^k_par_[0-9A-Za-z]{32}$/);
    const listed = JSON.parse((await here(['apikey', 'list', '--json'])).stdout);
    expect(listed).toEqual([expect.objectContaining({ tier: 'partner', revoked_at: null })]);
  });

  test.each([[[]], [['--tier', 'pro', '--scope', 'partner']]])('with %j is wrong usage', async (args) => {
    const { code, stderr } = await here(['apikey', 'create', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/either a --tier .* or a --scope/)]);
  });
});

describe('tally rosetta normalize', () => {
  test('shows what maps, is stricter, corresponds to nothing or is to be decided', async () => {
    const { code, stdout, stderr } = await normalize(at('policy.json'), '--to', 'in, us-ca');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/receipt of this answer is r_env_/)]);
    for (const line of [
      /^eu → in {2}India$/m,
      /^▲ retention +stricter {2}GDPR Art\. 5\(1\)\(e\); .*DPDP Rules Rule 8\(3\)/m,
      /▲ days 90: at least 365 days \(DPDP Rules Rule 8\(3\), from 2027-05-13\)/,
      /\? basis: The rules of this jurisdiction do not give a single value/,
      /^∅ region_transfer +no equivalent {2}GDPR Art\. 44; .* → CCPA, Cal\. Civ\. Code § 1798\.100\(d\)$/m,
      /^ {4}purpose\.mood: one of specified, basis, further_use$/m,
      /^This is not legal advice\./m,
      /a person has checked 0 of its 110 entries\.$/m,
    ])
      expect(stdout).toMatch(line);
  });

  test('writes answer and receipt, which verify together', async () => {
    const files = ['--out', at('answer.json'), '--receipt', at('receipt.json')];
    writeFileSync(at('whole.json'), JSON.stringify({ ...POLICY, targets: ['uk'] }));
    const ran = await normalize(at('whole.json'), ...files);
    expect([ran.code, ran.stdout]).toEqual([0, '']);
    await here(['trust', 'fetch']);
    const verify = ['verify', at('receipt.json'), '--request', at('whole.json'), '--response'];
    expect((await here([...verify, at('answer.json')])).code).toBe(0);
    writeFileSync(at('other.json'), readFileSync(at('answer.json'), 'utf8').replace('decide', 'maps'));
    expect((await here([...verify, at('other.json')])).code).toBe(1);
  });

  test('gives JSON, and the same answer for the same key', async () => {
    const args = [at('policy.json'), '--to', 'jp', '--json', '--idempotency-key', 'k'];
    const [first, again] = [await normalize(...args), await normalize(...args)];
    expect(JSON.parse(first.stdout)).toMatchObject({ type: 'svc-rosetta-v1', jurisdiction: 'eu' });
    expect(again.stdout).toBe(first.stdout);
  });

  test.each<[string, string[], number, string]>([
    ['no targets', ['policy.json'], 2, 'usage'],
    ['no such file', ['absent.json', '--to', 'uk'], 2, 'usage'],
    ['another jurisdiction', ['policy.json', '--to', 'uk,mars'], 1, 'unknown_jurisdiction'],
  ])('%s', async (_, [file = '', ...args], code, error) => {
    const ran = await normalize(at(file), ...args, '--json');
    expect([ran.code, JSON.parse(ran.stdout).error.code]).toEqual([code, error]);
  });

  test('needs a partner’s key', async () => {
    const args = ['rosetta', 'normalize', at('policy.json'), '--to', 'uk', '--json'];
    const without = await here(args);
    expect([without.code, JSON.parse(without.stdout).error.code]).toEqual([2, 'usage']);
    const pro = (await here(['apikey', 'create', '--tier', 'pro'])).stdout.trim();
    const refused = await here(args, { TALLY_API_KEY: pro });
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([1, 'partner_only']);
  });

  test('refuses an answer that its receipt does not cover', async () => {
    const { stdout } = await normalize(at('policy.json'), '--to', 'uk', '--json');
    const forged = JSON.stringify({ ...JSON.parse(stdout), notice: 'All is well.' });
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(forged);
    }).listen(0, '127.0.0.1');
    const url = await new Promise<string>((resolve) => {
      server.on('listening', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    });
    const ran = await normalize(at('policy.json'), '--to', 'uk', '--url', url);
    server.close();
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toMatch(/a receipt of another request or answer/);
  });
});
