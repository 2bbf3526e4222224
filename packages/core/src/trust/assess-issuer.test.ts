import { describe, expect, test } from 'vitest';
import { anchoredAt, anchors } from '../../test/anchored-at.ts';
import {
  ISSUED,
  ISSUED_AT,
  issuerMembers,
  keyOf,
  NOW,
  recordOf,
  sampleReceipt,
  signAs,
  signerOf,
  without,
} from '../../test/sample-receipts.ts';
import type { JsonObject } from '../json/types.ts';
import { formatTimestamp } from '../time.ts';
import { type Verification, verify } from '../verify.ts';
import { bothTrusts, type IssuerKey, type IssuerRecord, KEY_PURPOSES, trustOf } from './issuer.ts';

const alice = await signerOf(1);
const bob = await signerOf(3);
const did = 'did:svc:alice';
const receipt = await sampleReceipt('standard', did, alice);

/** A timestamp so many seconds from when the sample receipts were issued. */
const at = (offset: number): string => formatTimestamp((ISSUED + offset) * 1000);
/** The same in Unix milliseconds. */
const ms = (offset: number): number => (ISSUED + offset) * 1000;

interface Judged {
  readonly valid: boolean;
  readonly trusted: boolean;
  readonly state: string;
  readonly window: boolean | null | undefined;
}

const judged = ({ valid, issuer, checks }: Verification): Judged => ({
  valid,
  trusted: issuer.trusted,
  state: issuer.key_state,
  window: checks.find(({ name }) => name === 'key_window')?.ok,
});

async function judge(
  key: Partial<IssuerKey>,
  existedAt?: number,
  document: JsonObject = receipt,
): Promise<Judged> {
  const trust = trustOf([recordOf(did, keyOf(alice, key))], anchors);
  return judged(await verify(document, { now: NOW, trust, ...(await anchoredAt(document, existedAt)) }));
}

const trusted = (state: string): Judged => ({ valid: true, trusted: true, state, window: true });
const invalid = (state: string): Judged => ({ valid: false, trusted: false, state, window: false });
const undated = (state: string): Judged => ({ valid: true, trusted: false, state, window: null });

const retired = (offset: number): Partial<IssuerKey> => ({ state: 'retired', valid_until: at(offset) });
const revoked = (
  offset: number,
  reason: 'superseded' | 'ceased' | 'unspecified' | 'compromised',
): Partial<IssuerKey> => ({
  state: 'revoked',
  revoked: { at: at(offset), reason },
});

describe('a key that is no longer in use', () => {
  test.each<[string, Partial<IssuerKey>, number | undefined, Judged]>([
    ['retired after, not anchored', retired(100), undefined, trusted('retired')],
    ['retired after, anchored before', retired(100), ms(50), trusted('retired')],
    ['retired after, anchored after', retired(100), ms(150), trusted('retired')],
    ['retired before, not anchored', retired(-100), undefined, invalid('retired')],
    ['retired before, anchored', retired(-100), ms(10), invalid('retired')],
    ['superseded after, not anchored', revoked(100, 'superseded'), undefined, trusted('revoked')],
    ['superseded after, anchored before', revoked(100, 'superseded'), ms(50), trusted('revoked')],
    ['superseded after, anchored after', revoked(100, 'superseded'), ms(150), trusted('revoked')],
    ['superseded before, not anchored', revoked(-100, 'superseded'), undefined, invalid('revoked')],
    ['superseded before, anchored', revoked(-100, 'superseded'), ms(10), invalid('revoked')],
    ['ceased after', revoked(100, 'ceased'), undefined, trusted('revoked')],
    ['unspecified before', revoked(-100, 'unspecified'), undefined, invalid('revoked')],
    ['compromised after, anchored before', revoked(100, 'compromised'), ms(50), trusted('compromised')],
    ['compromised after, not anchored', revoked(100, 'compromised'), undefined, undated('compromised')],
    ['compromised after, anchored after', revoked(100, 'compromised'), ms(150), undated('compromised')],
    ['compromised before, not anchored', revoked(-100, 'compromised'), undefined, invalid('compromised')],
    ['compromised before, anchored', revoked(-100, 'compromised'), ms(10), invalid('compromised')],
    // Anchored before the compromise, yet it claims to be issued after it: a contradiction, within the clock's skew.
    [
      'compromised before, anchored earlier still',
      revoked(-100, 'compromised'),
      ms(-200),
      invalid('compromised'),
    ],
  ])('%s', async (_what, key, existedAt, verdict) => {
    expect(await judge(key, existedAt)).toEqual(verdict);
  });

  test('retired and later found to be compromised: the stricter holds', async () => {
    const both = { ...revoked(200, 'compromised'), valid_until: at(100) };
    expect(await judge(both)).toEqual(undated('compromised'));
    expect(await judge(both, ms(50))).toEqual(trusted('compromised'));
    expect(await judge({ ...both, valid_until: at(-100) }, ms(50))).toEqual(invalid('compromised'));
  });
});

describe('windows are half-open, to the second', () => {
  test.each<[string, Partial<IssuerKey>, Judged]>([
    ['valid_from at the second of issue', { valid_from: at(0) }, trusted('active')],
    ['valid_from a second later', { valid_from: at(1) }, invalid('active')],
    ['valid_until a second later', { state: 'retired', valid_until: at(1) }, trusted('retired')],
    ['valid_until at the second of issue', { state: 'retired', valid_until: at(0) }, invalid('retired')],
    ['revoked a second later', revoked(1, 'superseded'), trusted('revoked')],
    ['revoked at the second of issue', revoked(0, 'superseded'), invalid('revoked')],
    ['compromised a second later', revoked(1, 'compromised'), undated('compromised')],
    ['compromised at the second of issue', revoked(0, 'compromised'), invalid('compromised')],
    ['active with an end that has passed', { valid_until: at(-1) }, invalid('active')],
  ])('%s', async (_what, key, verdict) => {
    expect(await judge(key)).toEqual(verdict);
  });

  test('an anchor dates a receipt only from before the compromise, to the second', async () => {
    expect(await judge(revoked(100, 'compromised'), ms(99))).toEqual(trusted('compromised'));
    expect(await judge(revoked(100, 'compromised'), ms(100))).toEqual(undated('compromised'));
  });

  test('an anchor from long before the issue contradicts it', async () => {
    expect(await judge({}, ms(-300))).toEqual(trusted('active'));
    expect(await judge({}, ms(-301))).toMatchObject({ valid: false, trusted: false });
  });

  test('a pending key signs nothing', async () => {
    expect(await judge({ state: 'pending' })).toEqual(invalid('pending'));
    expect(await judge({ state: 'pending' }, ms(0))).toEqual(invalid('pending'));
  });

  test.each([
    ['revoked', { state: 'revoked', revoked: null }],
    ['retired', { state: 'retired', valid_until: null }],
  ] as const)('a %s key whose record does not say since when signs nothing', async (state, key) => {
    expect(await judge(key)).toEqual(invalid(state));
  });
});

describe('a bill, whose compiled_at may be before its signing', () => {
  const judgeBill = async (key: Partial<IssuerKey>, existedAt?: number): Promise<Judged> =>
    judge(key, existedAt, await sampleReceipt('metering', did, alice));

  test.each<[string, Partial<IssuerKey>, number | undefined, Judged]>([
    ['a key that came a second later', { valid_from: at(1) }, undefined, trusted('active')],
    ['a key that came a day later', { valid_from: at(86_400) }, undefined, trusted('active')],
    ['anchored after that key came', { valid_from: at(1_000) }, ms(1_000), trusted('active')],
    [
      'anchored within the clocks’ tolerance before it',
      { valid_from: at(1_000) },
      ms(700),
      trusted('active'),
    ],
    ['anchored before that key came', { valid_from: at(1_000) }, ms(699), invalid('active')],
    ['retired a second later', { valid_from: at(-9), ...retired(1) }, undefined, trusted('retired')],
    ['retired then', retired(0), undefined, invalid('retired')],
    ['revoked then', revoked(0, 'superseded'), undefined, invalid('revoked')],
    ['compromised later', revoked(100, 'compromised'), undefined, undated('compromised')],
    ['compromised later, anchored before', revoked(100, 'compromised'), ms(50), trusted('compromised')],
    ['compromised then', revoked(0, 'compromised'), undefined, invalid('compromised')],
    ['a pending key', { state: 'pending', valid_from: at(1) }, undefined, invalid('pending')],
  ])('%s', async (_what, key, existedAt, verdict) => {
    expect(await judgeBill(key, existedAt)).toEqual(verdict);
  });

  test('says that it was signed later than compiled', async () => {
    const bill = await sampleReceipt('metering', did, alice);
    const details = async (key: Partial<IssuerKey>): Promise<string | undefined> => {
      const verdict = await verify(bill, { now: NOW, trust: trustOf([recordOf(did, keyOf(alice, key))]) });
      return verdict.checks.find(({ name }) => name === 'key_window')?.detail;
    };
    expect(await details({ valid_from: at(60) })).toContain('signed later than compiled');
    expect(await details({ valid_from: at(-60) })).not.toContain('later');
    expect(await details(revoked(0, 'superseded'))).toContain('this says that it was compiled at');
  });
});

describe('whose key it is', () => {
  const known = trustOf([
    recordOf(did, keyOf(alice)),
    { ...recordOf('did:svc:bob', keyOf(bob)), status: 'registered' },
    recordOf(bob.keyId, keyOf(bob)),
  ]);
  const check = async (document: JsonObject, trust = known): Promise<Verification> =>
    verify(document, { now: NOW, trust });
  const signed = (changes: JsonObject, signer = alice): Promise<JsonObject> =>
    sampleReceipt('standard', did, signer, changes);

  test.each([...KEY_PURPOSES, 'x-later'])(
    'a key for %s signs receipts only when that is its purpose',
    async (purpose) => {
      const verdict = await check(receipt, trustOf([recordOf(did, keyOf(alice, { purpose }))]));
      const good = purpose === 'receipt';
      expect(verdict.valid).toBe(good);
      expect(verdict.issuer).toMatchObject({ trusted: good, status: good ? 'verified' : 'contradicted' });
      expect(verdict.integrity).toBe(true);
    },
  );

  test('a receipt that names an issuer whose record lacks its key is invalid', async () => {
    const verdict = await check(await signed({ issuer_did: 'did:svc:bob', issuer_verified: false }));
    expect(verdict).toMatchObject({
      valid: false,
      integrity: true,
      issuer: { did: 'did:svc:bob', trusted: false, status: 'contradicted' },
    });
  });

  test('one that names an issuer nobody knows is untrusted, no more', async () => {
    const verdict = await check(await signed({ issuer_did: 'did:svc:nobody' }));
    expect(verdict).toMatchObject({
      valid: true,
      issuer: { did: 'did:svc:nobody', trusted: false, status: 'unknown' },
    });
    expect(verdict.checks.filter(({ ok }) => ok === null).map(({ name }) => name)).toEqual([
      'issuer',
      'key_window',
      'anchor',
    ]);
  });

  test('one that names the did:key of another key is invalid even when nobody knows either', async () => {
    const verdict = await check(await signed({ issuer_did: bob.keyId }), trustOf([]));
    expect(verdict).toMatchObject({ valid: false, integrity: true, issuer: { status: 'contradicted' } });
  });

  test('one that names its own did:key proves itself, but is nobody’s', async () => {
    const verdict = await check(await signed({ issuer_did: alice.keyId }), trustOf([]));
    expect(verdict).toMatchObject({
      valid: true,
      issuer: { did: alice.keyId, trusted: false, status: 'unknown' },
    });
  });

  test('so does an issuer’s own receipt that carries only the public key', async () => {
    const document = {
      ...without(await sampleReceipt('issue', alice.keyId, alice), 'key_id'),
      issuer_verified: false,
    };
    const verdict = await check(await signAs('issue', document, alice), trustOf([]));
    expect(verdict).toMatchObject({
      valid: true,
      issuer: { did: alice.keyId, key_id: alice.keyId, status: 'unknown' },
    });
  });

  test('and one that carries only a public key other than its did:key is invalid', async () => {
    const document = {
      ...without(await sampleReceipt('issue', bob.keyId, alice), 'key_id'),
      issuer_verified: false,
    };
    const verdict = await check(await signAs('issue', document, alice), trustOf([]));
    expect(verdict).toMatchObject({ valid: false, integrity: true, issuer: { status: 'contradicted' } });
  });

  test('a did:key issuer is trusted like any other when the trust holds it', async () => {
    const named = await sampleReceipt('standard', bob.keyId, bob);
    expect(await check(named)).toMatchObject({ valid: true, issuer: { did: bob.keyId, trusted: true } });
  });

  test.each(['nano', 'metering'] as const)('%s names no issuer: its key tells', async (kind) => {
    const document = await sampleReceipt(kind, did, alice);
    expect(await check(document)).toMatchObject({
      valid: true,
      issuer: { did, trusted: true, status: 'verified' },
    });
    expect(await check(document, trustOf([]))).toMatchObject({
      valid: true,
      issuer: { did: null, trusted: false },
    });
    const retiredKey = trustOf([recordOf(did, keyOf(alice, retired(0)))]);
    expect(await check(document, retiredKey)).toMatchObject({
      valid: false,
      issuer: { did, trusted: false },
    });
  });
});

describe('the claim to be verified', () => {
  const registered: IssuerRecord = { did, status: 'registered', keys: [keyOf(alice)] };

  test.each([
    [true, 'verified', { valid: true, issuer: { trusted: true, status: 'verified' } }],
    [false, 'verified', { valid: true, issuer: { trusted: true, status: 'verified' } }],
    [true, 'registered', { valid: false, issuer: { trusted: false, status: 'contradicted' } }],
    [false, 'registered', { valid: true, issuer: { trusted: false, status: 'registered' } }],
  ] as const)('issuer_verified %s of a %s issuer', async (issuer_verified, status, verdict) => {
    const document = await sampleReceipt('standard', did, alice, { issuer_verified });
    expect(await verify(document, { now: NOW, trust: trustOf([{ ...registered, status }]) })).toMatchObject(
      verdict,
    );
  });

  test('of an issuer that nobody knows proves nothing', async () => {
    const verdict = await verify(receipt, { now: NOW });
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: false, status: 'unknown' } });
  });
});

describe('what a trust holds', () => {
  test('the first record of a DID wins, and no other adds keys to it', async () => {
    const trust = trustOf([recordOf(did, keyOf(alice)), recordOf(did, keyOf(bob))]);
    const forged = await sampleReceipt('standard', did, bob);
    expect(await verify(forged, { now: NOW, trust })).toMatchObject({
      valid: false,
      issuer: { trusted: false },
    });
    expect(await verify(receipt, { now: NOW, trust })).toMatchObject({
      valid: true,
      issuer: { trusted: true },
    });
  });

  test('of two holders of one key the verified one stands for it, in either order', async () => {
    const nano = await sampleReceipt('nano', did, alice);
    const squatter: IssuerRecord = { did: 'did:svc:squatter', status: 'registered', keys: [keyOf(alice)] };
    for (const records of [
      [squatter, recordOf(did, keyOf(alice))],
      [recordOf(did, keyOf(alice)), squatter],
    ]) {
      expect(await verify(nano, { now: NOW, trust: trustOf(records) })).toMatchObject({
        issuer: { did, trusted: true },
      });
    }
  });

  test('of two trusts the first is asked first', async () => {
    const first = trustOf([recordOf(did, keyOf(alice, retired(0)))]);
    const second = trustOf([recordOf(did, keyOf(alice)), recordOf('did:svc:bob', keyOf(bob))]);
    expect(judged(await verify(receipt, { now: NOW, trust: bothTrusts(first, second) }))).toEqual(
      invalid('retired'),
    );
    expect(judged(await verify(receipt, { now: NOW, trust: bothTrusts(second, first) }))).toEqual(
      trusted('active'),
    );
    const other = await sampleReceipt('standard', 'did:svc:bob', bob);
    expect(judged(await verify(other, { now: NOW, trust: bothTrusts(first, second) }))).toEqual(
      trusted('active'),
    );
  });

  test('no did:key stands beside another public key than its own', () => {
    const mixed = recordOf(did, keyOf(alice, { key_id: bob.keyId }));
    expect(() => trustOf([mixed])).toThrow(expect.objectContaining({ code: 'trust_invalid' }) as Error);
  });

  test('a key under an id of the issuer’s own is found by that id', async () => {
    const key_id = 'did:svc:alice:k1';
    const named = await signAs('standard', { ...receipt, key_id }, alice);
    const trust = trustOf([recordOf(did, keyOf(alice, { key_id }))]);
    expect(await verify(named, { now: NOW, trust })).toMatchObject({
      valid: true,
      issuer: { key_id, trusted: true },
    });
    expect(await verify(named, { now: NOW })).toMatchObject({ valid: false, integrity: false });
  });
});

test('the sample receipts are issued when this table says', () => {
  expect(at(0)).toBe(ISSUED_AT);
  expect(receipt).toMatchObject({ issued_at: ISSUED_AT, ...issuerMembers('standard', did, alice) });
});
