import { describe, expect, test } from 'vitest';
import { keyOf, recordOf, signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { trustOf } from '../trust/issuer.ts';
import { verify } from '../verify.ts';
import { signBenchmark } from './benchmark.ts';

const NOW = Date.UTC(2027, 2, 1);
const signer = await signerOf(1);
const content = { version: 1, corpus: { sha256: 'ab', cases: 3 }, tiers: [{ kept: 0.5 }] };
const issuance = { did: 'did:svc:alice', issuedAt: NOW - 1000 };
const text = await signBenchmark('semantic', content, issuance, signer);
const document = parseJson(utf8(text)) as JsonObject;

/** Alice's record, in which the key is for `purpose`. */
const known = (purpose: 'benchmark' | 'receipt') =>
  trustOf([recordOf('did:svc:alice', { ...keyOf(signer), purpose })]);

describe('a benchmark', () => {
  test('is valid and trusted with a key that is for benchmarks', async () => {
    const { valid, family, profile, receipt_id, issuer } = await verify(document, {
      now: NOW,
      trust: known('benchmark'),
    });
    expect({ valid, family, profile, receipt_id }).toEqual({
      valid: true,
      family: 'benchmark',
      profile: 'semantic',
      receipt_id: 'benchmark/semantic',
    });
    expect(issuer.trusted).toBe(true);
  });

  test('contradicts an issuer whose key is for receipts', async () => {
    const { valid, issuer } = await verify(document, { now: NOW, trust: known('receipt') });
    expect([valid, issuer.status]).toEqual([false, 'contradicted']);
  });

  test.each([
    ['another node', { node: 'temporal' }],
    ['another number', { tiers: [{ kept: 0.6 }] }],
    ['another time', { issued_at: '2027-02-01T00:00:00Z' }],
    ['one member more', { note: 'x' }],
  ])('is invalid with %s', async (_, change) => {
    const { valid } = await verify({ ...document, ...change }, { now: NOW, trust: known('benchmark') });
    expect(valid).toBe(false);
  });

  test('has no form with a node that there is not', async () => {
    const { checks } = await verify({ ...document, node: 'overall' }, { now: NOW });
    expect(checks[0]).toMatchObject({ name: 'format', ok: false });
  });
});
