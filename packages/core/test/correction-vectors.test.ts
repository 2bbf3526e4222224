import { describe, expect, test } from 'vitest';
import type { CorrectionCase } from '../../../scripts/vectors/corrections.ts';
import {
  correctionOf,
  type JsonObject,
  type JudgedLink,
  judgeCorrections,
  trustOf,
  verify,
  verifyCorrections,
} from '../src/index.ts';
import { readVectors, stores } from './receipt-vectors.ts';

const cases = readVectors<CorrectionCase>('corrections.json');

test.each(cases)('corrections.json: $name', async ({ documents, now, trust, expected }) => {
  const options = { now: Date.parse(now), trust: trustOf(stores[trust]) };
  const found = await verifyCorrections(documents, options);
  expect(
    found.map(({ corrects, correction, reason: _reason, faults, ...rest }) => ({
      ...rest,
      corrects: corrects.state,
      correction: correction.state,
      faults: faults.length,
    })),
  ).toEqual(expected);
});

describe('correctionOf', () => {
  const named = (name: string): readonly JsonObject[] =>
    (cases.find((one) => one.name === name)?.documents ?? []) as JsonObject[];
  const [first, second, link] = named('an envelope') as [JsonObject, JsonObject, JsonObject];
  const [bill] = named('a bill') as [JsonObject];

  test.each([
    ['a receipt and itself', first, first],
    ['an envelope and a bill', first, bill],
    ['what links two receipts', link, second],
    ['what links two receipts, as the correction', first, link],
  ])('refuses %s', (_, corrects, correction) => {
    expect(() => correctionOf({ corrects, correction }, null)).toThrow(
      expect.objectContaining({ code: 'invalid_field' }) as Error,
    );
  });

  test('leaves the verdict on both receipts as it is', async () => {
    for (const receipt of [first, second, link])
      expect(await verify(receipt, { now: Date.parse(cases[0]!.now) })).toMatchObject({ valid: true });
  });
});

test('one issuer with many keys is known in all the links that they signed', () => {
  // So many keys that a walk from one to the next for each link would not end.
  const links = Array.from({ length: 30_000 }, (_, index): JudgedLink => {
    const issuer = { did: 'did:svc:example', key_id: `${index}`, trusted: true, status: 'verified' } as const;
    const named = { receipt_id: `r_env_${index}`, receipt_sha256: `${index}` };
    const says = {
      kind: 'correction',
      corrects: { ...named, receipt_sha256: '' },
      correction: named,
    } as const;
    const verdict = {
      valid: true,
      integrity: true,
      issuer: { ...issuer, key_state: 'active' },
      checks: [],
    } as const;
    return { name: named, verdict, says: { ...says, reason: null }, isForCorrection: true };
  });
  const faults = judgeCorrections(links, []).map((one) => one.faults.join());
  expect(faults.filter((one) => !one.includes('names another correction of'))).toEqual([]);
});
