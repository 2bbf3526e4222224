import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CorrectionCase } from '../../../scripts/vectors/corrections.ts';
import { type Ran, type Service, serve, workspace } from './tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

const file = new URL('../../../spec/vectors/corrections.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as CorrectionCase[];

/** Verifies the documents of a case, each in a file of its own, in an empty home. */
function verifyCase(name: string, ...options: string[]) {
  const { documents, now } = cases.find((one) => one.name === name) ?? cases[0]!;
  const files = documents.map((document, index) => {
    const path = at(`${index}.json`);
    writeFileSync(path, JSON.stringify(document));
    return path;
  });
  return tally(['verify', ...files, '--as-of', now, ...options]);
}

test('says which of several receipts corrects which; both stay what they are', async () => {
  const { code, stdout } = await verifyCase('a bill');
  expect(code).toBe(3);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines.slice(0, 3)).toEqual(Array(3).fill(expect.stringContaining('Intact, but not trusted')));
  expect(lines[3]).toMatch(
    /^→ r_sls\.metering_\S+ corrects r_sls\.metering_\S+, which is superseded .* Reason: The count was wrong\.$/,
  );
});

test('says what is not given, as JSON too', async () => {
  expect((await verifyCase('without the correction')).stdout).toContain('Not given: r_env_');
  const { stdout } = await verifyCase('without the correction', '--json');
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    correction: { valid: true, corrects: { state: 'valid' }, correction: { state: 'not_given' } },
  });
});

test('two corrections of one receipt by one issuer are not good, nor is somebody else’s', async () => {
  const { code, stdout } = await verifyCase('two for one receipt', '--quiet');
  expect(code).toBe(1);
  expect(stdout.match(/✗ r_env_\S+ corrects nothing: r_env_\S+ names another correction/g)).toHaveLength(2);
  expect((await verifyCase('by a stranger')).code).toBe(1);
});

test('a correction alone says what it links', async () => {
  const { stdout } = await verifyCase('the link alone');
  expect(stdout).toMatch(
    /^ {2}corrects +r_env_\S+a\n {2}by +r_env_\S+b\n {2}reason +The count was wrong\.$/m,
  );
});

describe('a service', () => {
  let service: Service;
  const keyed = (...args: string[]): Promise<Ran> => tally(args, { env: service.env });
  const mint = async (name: string): Promise<string> => {
    const { stdout } = await keyed('mint', '--text', name, '--anchor', '--out', at(name), '--json');
    return (JSON.parse(stdout) as { receipt_id: string }).receipt_id;
  };
  let ids: readonly [string, string, string];
  beforeAll(async () => {
    const plain = await serve(at('data'));
    const { stdout } = await tally(['apikey', 'create', '--tier', 'pro', '--json'], { env: plain.env });
    const { key } = JSON.parse(stdout) as { key: string };
    service = { ...plain, env: { ...plain.env, TALLY_API_KEY: key } };
    ids = [await mint('first'), await mint('second'), await mint('third')];
    await keyed('trust', 'fetch');
  });
  afterAll(() => service.stop());

  test('signs that a receipt corrects another, which is seen from both and by whoever has all three', async () => {
    expect((await keyed('corrections', ids[0])).stdout).toBe(
      `Nothing corrects ${ids[0]}, and it corrects nothing.\n`,
    );
    const why = ['--reason', 'The count was wrong.', '--out', at('link')];
    const signed = await keyed('correct', at('first'), at('second'), ...why);
    expect(signed).toMatchObject({ code: 0, stdout: '' });
    expect(signed.stderr).toContain(`tally verify ${at('first')} ${at('second')} ${at('link')}`);
    const { code, stdout } = await keyed('verify', at('first'), at('second'), at('link'));
    expect(code).toBe(0);
    expect(stdout).toContain(`${ids[1]} corrects ${ids[0]}, which is superseded`);
    const from = await keyed('corrections', at('first'));
    expect(from.stdout).toMatch(
      new RegExp(
        `^${ids[0]} is corrected by ${ids[1]}, by r_env_\\S+ of \\S+\\. Reason: The count was wrong\\.\\n$`,
      ),
    );
    const { stdout: json } = await keyed('corrections', ids[1], '--json');
    expect(JSON.parse(json)).toMatchObject({ corrected_by: null, corrects: { receipt_id: ids[0] } });
  });

  test('takes ids, says the same again, and corrects a receipt once', async () => {
    const again = await keyed('correct', ids[1], ids[2]);
    const { call } = JSON.parse(again.stdout) as { call: object };
    expect(call).toMatchObject({ kind: 'correction', corrects: { receipt_id: ids[1] }, reason: null });
    expect((await keyed('correct', ids[1], ids[2])).stdout).toBe(again.stdout);
    expect(await keyed('correct', ids[1], ids[0])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already_corrected'),
    });
  });

  test.each<[string, () => string[], number, string]>([
    ['no receipt', () => ['correct', at('first'), at('missing')], 2, 'There is no file'],
    [
      'a file that is no receipt',
      () => ['corrections', at('none.json')],
      2,
      'not a receipt as it was issued',
    ],
    ['standard input twice', () => ['correct', '-', '-'], 2, 'Standard input can be read once'],
    [
      'a receipt that is unknown',
      () => ['corrections', 'r_env_1803902400_0123456789ab'],
      1,
      'receipt_not_found',
    ],
  ])('refuses %s', async (_, args, code, message) => {
    writeFileSync(at('none.json'), '{}');
    expect(await keyed(...args())).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  test('refuses a receipt that was changed, before anything is signed', async () => {
    const changed = readFileSync(at('third'), 'utf8').replace('"purpose":"receipt"', '"purpose":"refund"');
    writeFileSync(at('changed'), changed);
    const { code, stderr } = await keyed('correct', at('changed'), await mint('fresh'));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('is not a receipt as it was issued'),
    });
    expect((await keyed('corrections', ids[2])).stdout).not.toContain('is corrected by');
  });

  test('needs a key', async () => {
    const { code, stderr } = await tally(['correct', ids[0], ids[1]], { env: { TALLY_URL: service.url } });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('A correction needs an API key'),
    });
  });
});
