import { expect, test } from 'vitest';
import type { ForeignCase } from '../../../scripts/vectors/foreign.ts';
import { type ForeignVerification, verifyForeign } from '../src/foreign/index.ts';
import { fromHex, trustOf } from '../src/index.ts';
import { readVectors, stores } from './receipt-vectors.ts';

const files = ['acta', 'x402', 'dsse', 'tlog-proof', 'others'].map((name) => `foreign-${name}.json`);
const cases = files.flatMap((from) => readVectors<ForeignCase>(from).map((vector) => ({ from, ...vector })));

test.each(cases)('$from: $name', async ({ file, keys, entry, log, trust, now, expected }) => {
  const verdict = await verifyForeign(file, {
    now: Date.parse(now),
    keys,
    entry: entry === undefined ? undefined : fromHex(entry),
    trust: trustOf(stores[trust], log === undefined ? [] : [{ log, chain: null }]),
  });
  expect(verdict === null ? null : summaryOf(verdict)).toEqual(expected);
});

function summaryOf({ family, valid, integrity, issuer, count, signers, checks }: ForeignVerification) {
  const failed_checks = checks.filter(({ ok }) => ok === false).map(({ name }) => name);
  return { family, valid, integrity, trusted: issuer.trusted, count, signers, failed_checks };
}
