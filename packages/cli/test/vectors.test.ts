import { writeFileSync } from 'node:fs';
import { checkTrustBundle } from '@tallystick/core';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bundleOf,
  bytesOf,
  circumstances,
  expectAsInCore,
  type FiledCase,
  outcome,
  receiptCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { parseNamed } from '../src/input.ts';
import { judge } from '../src/judge.ts';
import type { TrustSource } from '../src/trust-sources.ts';
import { workspace } from './tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

type Store = FiledCase['trust'];
const bundlePath = (store: Store): string => at(`${store}.json`);

/** Signs and saves the bundle of a store, and reads it as the command does. */
async function sourceOf(store: Store): Promise<TrustSource> {
  const text = await bundleOf(stores[store]);
  writeFileSync(bundlePath(store), text);
  const { bundle, pin } = await checkTrustBundle(JSON.parse(text), { now: Date.UTC(2026, 0) });
  return { from: store, root: pin.root, bundle };
}

const sources = { known: await sourceOf('known'), empty: await sourceOf('empty') };

/** `tally verify` is told of no anchors. */
const judged = receiptCases.filter(({ anchored_at }) => anchored_at === undefined);

test('only the ten cases with an anchor are left out', () => {
  expect(receiptCases.length - judged.length).toBe(10);
});

test.each(judged)('$file: $name', async (vector) => {
  const { now, evidence } = circumstances(vector);
  const found = await outcome(async () => {
    const receipt = parseNamed(bytesOf(vector), 'The receipt');
    const leaves = evidence === undefined ? undefined : () => evidence;
    return (await judge(receipt, [sources[vector.trust]], { now, evidence: leaves })).verdict;
  });
  await expectAsInCore(found, vector);
});

describe('tally verify --json', () => {
  const exitOf = ({ expected }: FiledCase): number => {
    if ('code' in expected || !expected.valid) return 1;
    return expected.trusted ? 0 : 3;
  };
  // The first case of every file for each exit status that the file has cases of.
  const plain = judged.filter(({ evidence, expected }) => evidence === undefined && !('code' in expected));
  const chosen = [...Map.groupBy(plain, (vector) => `${vector.file} ${exitOf(vector)}`).values()].flatMap(
    ([first]) => (first === undefined ? [] : [{ ...first, exit: exitOf(first) }]),
  );

  test('every exit status comes up, in a valid and an invalid case of every file', () => {
    const files = (exits: readonly number[]) =>
      new Set(chosen.filter(({ exit }) => exits.includes(exit)).map(({ file }) => file));
    expect(files([0, 3]).size).toBe(10);
    expect(files([1]).size).toBe(10);
    expect(files([3]).size).toBeGreaterThan(4);
  });

  test.each(chosen)('ends with $exit, $file: $name', async ({ exit, ...vector }) => {
    const { code, stdout } = await tally(
      ['verify', '-', '--json', '--trust', bundlePath(vector.trust), '--as-of', vector.now],
      { input: bytesOf(vector) },
    );
    const { trust: _bundles, ...verdict } = JSON.parse(stdout);
    expect(code).toBe(exit);
    await expectAsInCore(verdict, vector);
  });
});
