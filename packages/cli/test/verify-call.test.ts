import { writeFileSync } from 'node:fs';
import type { CallVerdict } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleOf, callVectors, stores } from '../../core/test/receipt-vectors.ts';
import { workspace } from './tally.ts';

const { at, tally, remove } = workspace();
beforeAll(async () => writeFileSync(at('bundle.json'), await bundleOf(stores.known)));
afterAll(remove);

type Case = (typeof callVectors)[number];

async function judge({ request, response, receipt, now }: Case, ...more: string[]) {
  writeFileSync(at('request.json'), request);
  writeFileSync(at('answer'), response);
  if (receipt !== undefined) writeFileSync(at('receipt.json'), JSON.stringify(receipt));
  const files = receipt === undefined ? [] : [at('receipt.json')];
  const call = ['--request', at('request.json'), '--response', at('answer')];
  return tally(['verify', ...files, ...call, '--trust', at('bundle.json'), '--as-of', now, ...more]);
}

const chosen = callVectors.filter(({ name }) =>
  ['in one piece, receipt given', 'stream', 'stream, event dropped', 'stream, svc of another call'].includes(
    name,
  ),
);

describe('tally verify --request --response', () => {
  test.each(chosen)('$file: $name', async (vector) => {
    const { code, stdout } = await judge(vector, '--json');
    const { valid, failed_checks, request_hash, response_hash } = vector.expected;
    const { checks, ...verdict } = JSON.parse(stdout) as CallVerdict;
    expect(verdict).toMatchObject({ valid, issuer: { trusted: valid } });
    expect(code).toBe(valid ? 0 : 1);
    const hashIn = (name: string) => checks.find((check) => check.name === name)?.hash;
    expect(checks.filter(({ ok }) => ok === false).map(({ name }) => name)).toEqual(failed_checks);
    expect([hashIn('request'), hashIn('response')]).toEqual([request_hash, response_hash]);
  });

  test('says in words which part is another', async () => {
    const vector = callVectors.find(({ name }) => name === 'stream, events swapped')!;
    const { code, stdout } = await judge(vector);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^✗ Not valid: response: The receipt covers another answer: the hash of this one is sha256:/,
    );
  });

  test('needs a receipt: from a file, or in the answer', async () => {
    const vector = callVectors.find(({ name }) => name === 'in one piece, no receipt')!;
    expect(await judge(vector)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'contains no receipt: give its file, from GET /v1/receipt/<X-Receipt-Id>.',
      ),
    });
    expect(await tally(['verify'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name the file of a receipt, or give --response'),
    });
  });
});
