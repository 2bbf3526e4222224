import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { SessionCase } from '../../../scripts/vectors/sessions.ts';
import { workspace } from './tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

const vectors = new URL('../../../spec/vectors/sessions.json', import.meta.url);
const cases = JSON.parse(readFileSync(vectors, 'utf8')) as SessionCase[];

function caseOf(name: string): SessionCase {
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found;
}

/** Writes a case's session, and returns the arguments that judge it. */
function written(name: string): string[] {
  const { file, key, now, referenced = [] } = caseOf(name);
  writeFileSync(at(`${name}.jsonl`), file);
  const others = referenced.map((receipt, index) => {
    writeFileSync(at(`${name}-${index}.json`), JSON.stringify(receipt));
    return at(`${name}-${index}.json`);
  });
  return ['session', 'verify', at(`${name}.jsonl`), '--as-of', now]
    .concat(key === undefined ? [] : ['--key', key])
    .concat(others.length === 0 ? [] : ['--referenced', ...others]);
}

/** What is known of an issuer's keys stands in its bundle, which the vectors do not have. */
const knownByBundle = new Set(['signed-by-a-service', 'pinned-key-compromised']);
const judged = cases.filter(({ name }) => !knownByBundle.has(name));

describe('tally session verify', () => {
  test.each(judged)('$name', async ({ name, expected }) => {
    const { code, stdout } = await tally([...written(name), '--json']);
    const { valid, trusted, state, count, references, faults } = JSON.parse(stdout);
    expect({ valid, trusted, state, count, references }).toEqual({
      valid: expected.valid,
      trusted: expected.trusted,
      state: expected.state,
      count: expected.count,
      references: expected.references,
    });
    const named = faults.map(({ name: fault, line, seq }: Record<string, unknown>) => ({
      name: fault,
      line,
      seq,
    }));
    expect(named).toEqual(expected.faults);
    expect(code).toBe(expected.valid ? (expected.trusted ? 0 : 3) : 1);
  });

  test('shows what was recorded, and what is wrong', async () => {
    const whole = await tally(written('open'));
    expect(whole.stdout).toMatch(/^✓ Valid: open, 4 receipts, signed by did:key:\w+, not anchored\.$/m);
    expect(whole.stdout).toContain('nobody can see whether receipts after number 3 were cut off');
    expect(whole.stdout).toMatch(/^ {5}3 {2}2026-01-15T11:00:00Z {2}read_file \(files\): denied$/m);
    const broken = await tally([...written('removed'), '--quiet']);
    expect(broken.stdout).toBe('✗ Not valid: 1 fault.\n  ✗ gap: Number 2 is missing.\n');
  });

  test('judges every session of a folder, and tells the worst', async () => {
    mkdirSync(at('many'));
    for (const name of ['closed', 'edited', 'open'])
      writeFileSync(at(`many/${name}.jsonl`), caseOf(name).file);
    const { key = '', now } = caseOf('closed');
    const { code, stdout } = await tally([
      'session',
      'verify',
      at('many'),
      '--key',
      key,
      '--as-of',
      now,
      '--quiet',
    ]);
    expect(stdout.match(/^[✓✗]/gm)).toEqual(['✓', '✗', '✓']);
    expect(code).toBe(1);
  });

  test('says what it cannot use', async () => {
    mkdirSync(at('empty'));
    const folder = await tally(['session', 'verify', at('empty')]);
    expect(folder).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no file whose name ends with .jsonl'),
    });
    written('closed');
    const key = await tally(['session', 'verify', at('closed.jsonl'), '--key', 'did:key:z6Mk']);
    expect(key).toMatchObject({ code: 2, stderr: expect.stringContaining('--key: ') });
    expect((await tally(['session', 'verify', at('nowhere.jsonl')])).code).toBe(2);
    writeFileSync(at('none.jsonl'), '');
    const none = await tally(['session', 'verify', at('none.jsonl')]);
    expect(none).toMatchObject({ code: 1, stdout: '✗ Not valid: it holds no receipt of a session.\n' });
  });
});
