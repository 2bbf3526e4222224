import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { ForeignCase } from '../../../scripts/vectors/foreign.ts';
import { callVectors, readVectors } from '../../core/test/receipt-vectors.ts';
import { workspace } from './tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

const acta = new URL('../../../spec/acta/aps-gateway-enforcement/', import.meta.url);
const receipt = readFileSync(new URL('4-portability/receipt.json', acta), 'utf8');
writeFileSync(at('receipt.json'), receipt);
writeFileSync(at('altered.json'), receipt.replace('"allow"', '"denial"'));
writeFileSync(at('envelope.json'), readFileSync(new URL('4-portability/intoto-envelope.json', acta)));
writeFileSync(at('jwks.json'), readFileSync(new URL('jwks.json', acta)));

function vector(family: string, name: string): ForeignCase {
  const found = readVectors<ForeignCase>(`foreign-${family}.json`).find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no vector ${name}.`);
  writeFileSync(at('vector'), found.file);
  return found;
}

describe('tally verify knows the receipts of other makers', () => {
  test('by a key in a file', async () => {
    const verdict = await tally(['verify', at('receipt.json'), '--key', at('jwks.json')]);
    expect(verdict).toMatchObject({ code: 0, stderr: '' });
    expect(verdict.stdout).toMatch(/^✓ Valid: signed by did:key:z6Mkjch\w+, a key that you trust\.\n/);
    expect(verdict.stdout).toContain('What it does not cover:\n  ○ It states a decision about a tool call');
    expect((await tally(['verify', at('altered.json'), '--key', at('jwks.json')])).code).toBe(1);
  });

  test('of several kinds at once, one line each', async () => {
    const files = ['receipt', 'envelope', 'altered'].map((name) => at(`${name}.json`));
    const { code, stdout } = await tally(['verify', ...files, '--key', at('jwks.json'), '--quiet']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/altered\.json: ✗ Not valid: signature: [^\n]+\n$/);
  });

  test('a chain without a pinned key is intact, and not trusted', async () => {
    const { now } = vector('acta', 'chain by the draft');
    const { code, stdout } = await tally(['verify', at('vector'), '--as-of', now, '--json']);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      family: 'acta',
      count: 4,
      valid: true,
      issuer: { trusted: false },
    });
  });

  test('a proof of inclusion, with its entry', async () => {
    const { keys, entry = '', now } = vector('tlog-proof', 'proof with its entry');
    writeFileSync(at('entry'), Buffer.from(entry, 'hex'));
    const args = ['verify', at('vector'), '--as-of', now, '--key', keys[0] ?? ''];
    expect(await tally(args)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('Give it with --entry.'),
    });
    expect(await tally([...args, '--entry', at('entry')])).toMatchObject({ code: 0 });
    expect(await tally([...args, '--entry', at('vector')])).toMatchObject({ code: 1 });
  });

  test('and refuses options that can’t apply to them, and keys that are none', async () => {
    expect(await tally(['verify', at('receipt.json'), '--evidence', at('jwks.json')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--evidence does not apply to receipts of other makers (acta).'),
    });
    expect(await tally(['verify', at('receipt.json'), '--key', 'nonsense'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--key: nonsense is no key that is read here, and no file with one'),
    });
  });
});

test('tally verify --key trusts one of our own receipts by its key alone', async () => {
  const { request, response, now } = callVectors[0] ?? { request: '', response: '', now: '' };
  writeFileSync(at('request'), request);
  writeFileSync(at('response'), response);
  const args = ['verify', '--request', at('request'), '--response', at('response'), '--as-of', now, '--json'];
  const { code, stdout } = await tally(args);
  const { issuer } = JSON.parse(stdout) as { issuer: { key_id: string } };
  expect(code).toBe(3);
  expect((await tally([...args, '--key', issuer.key_id])).code).toBe(0);
  const other = await tally([...args, '--key', '0'.repeat(62).concat('15')]);
  expect(other).toMatchObject({ code: 1, stdout: expect.stringContaining('pinned_key') });
});
