import { writeFileSync } from 'node:fs';
import { checkTrustBundle } from '@tallystick/core';
import { afterAll, describe, expect, test } from 'vitest';
import {
  anchorCases,
  anchorIn,
  authorityOf,
  bundleOf,
  bytesOf,
  circumstances,
  expectAsInCore,
  outcome,
  receiptCases,
  settlementCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { evaluate } from '../src/evaluate.ts';
import { parseNamed } from '../src/input.ts';
import type { TrustSource } from '../src/trust-sources.ts';
import { workspace } from './tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

type Case = (typeof settlementCases)[number];

const cases: readonly Case[] = [...receiptCases, ...anchorCases, ...settlementCases];
const keyOf = ({ trust, authority }: Case): string => JSON.stringify([trust, authority]);
/** The bundle that each case is judged by, in a file, and as the command reads it. */
const bundles = new Map<string, { readonly path: string; readonly source: TrustSource }>();

for (const vector of cases) {
  if (bundles.has(keyOf(vector))) continue;
  const text = await bundleOf(stores[vector.trust], 1, 'a', authorityOf(vector));
  const path = at(`bundle-${bundles.size}.json`);
  writeFileSync(path, text);
  const { bundle, pin } = await checkTrustBundle(JSON.parse(text), { now: Date.UTC(2026, 0) });
  bundles.set(keyOf(vector), { path, source: { from: path, root: pin.root, bundle } });
}

function bundleFor(vector: Case): { readonly path: string; readonly source: TrustSource } {
  const found = bundles.get(keyOf(vector));
  if (found === undefined) throw new Error('Every case has its bundle.');
  return found;
}

test.each(cases)('$file: $name', async (vector) => {
  const { now, evidence } = circumstances(vector);
  const found = await outcome(async () => {
    const receipt = parseNamed(bytesOf(vector), 'The receipt');
    const leaves = evidence === undefined ? undefined : () => evidence;
    const known = { now, evidence: leaves, ...anchorIn(vector) };
    return (await evaluate(receipt, [bundleFor(vector).source], known)).verdict;
  });
  await expectAsInCore(found, vector);
});

describe('tally verify --json', () => {
  const exitOf = ({ expected }: Case): number => {
    if ('code' in expected || !expected.valid) return 1;
    return expected.trusted ? 0 : 3;
  };
  // The first case of every file for each exit status that the file has cases of.
  const plain = cases.filter(
    ({ evidence, transaction, settlement, expected }) =>
      [evidence, transaction, settlement].every((given) => given === undefined) && !('code' in expected),
  );
  const chosen = [...Map.groupBy(plain, (vector) => `${vector.file} ${exitOf(vector)}`).values()].flatMap(
    ([first]) => (first === undefined ? [] : [{ ...first, exit: exitOf(first) }]),
  );

  // The invalid cases of anchors.json and settlements.json ask a chain: test/anchor.test.ts has one.
  test('every exit status comes up, in a valid and an invalid case of every file', () => {
    const files = (exits: readonly number[]) =>
      new Set(chosen.filter(({ exit }) => exits.includes(exit)).map(({ file }) => file));
    expect(files([0, 3]).size).toBe(14);
    expect(files([1]).size).toBe(12);
    expect(files([3]).size).toBeGreaterThan(4);
  });

  test.each(chosen)('ends with $exit, $file: $name', async ({ exit, ...vector }) => {
    const { anchor, now } = vector;
    if (anchor !== undefined) writeFileSync(at('anchor.json'), JSON.stringify(anchor));
    const args = ['verify', '-', '--json', '--trust', bundleFor(vector).path, '--as-of', now];
    const more = anchor === undefined ? [] : ['--anchor', at('anchor.json')];
    const { code, stdout } = await tally([...args, ...more], { input: bytesOf(vector) });
    const { trust: _bundles, ...verdict } = JSON.parse(stdout);
    expect(code).toBe(exit);
    await expectAsInCore(verdict, vector);
  });
});
