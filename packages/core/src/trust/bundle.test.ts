import { beforeAll, describe, expect, test } from 'vitest';
import { keyOf, NOW, recordOf, sampleReceipt, signerOf } from '../../test/sample-receipts.ts';
import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { type ErrorCode, TallyError } from '../errors.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { verify } from '../verify.ts';
import {
  checkTrustBundle,
  rootFingerprint,
  signTrustBundle,
  type TrustBundleFacts,
  type TrustPin,
} from './bundle.ts';
import { trustOf } from './issuer.ts';

const EXPIRES = NOW + 86_400_000;
const [root, otherRoot, receiptKey, logKey] = (await Promise.all([11, 12, 1, 13].map(signerOf))) as [
  Signer,
  Signer,
  Signer,
  Signer,
];

const facts: TrustBundleFacts = {
  version: 7,
  issuedAt: NOW - 1000,
  expiresAt: EXPIRES,
  issuers: [
    recordOf('did:svc:alice', keyOf(receiptKey), keyOf(logKey, { purpose: 'log' })),
    recordOf(
      'did:svc:old',
      keyOf(otherRoot, {
        state: 'revoked',
        revoked: { at: '2026-05-01T00:00:00Z', reason: 'ceased' },
        valid_until: '2027-01-01T00:00:00Z',
      }),
    ),
  ],
  log: { origin: 'api.example.com', key_id: logKey.keyId, public_key: toBase64url(logKey.publicKey) },
  chain: { network: 'base', chain_id: 8453, address: '0x00000000000000000000000000000000000000aa' },
};

const parsed = (text: string): JsonObject => parseJson(utf8(text)) as JsonObject;
const bundleOf = async (changes: Partial<TrustBundleFacts> = {}, signer = root): Promise<JsonObject> =>
  parsed(await signTrustBundle({ ...facts, ...changes }, signer));

/** Signs any body, also one that `signTrustBundle` would never write. */
async function signed(body: JsonObject, signer = root): Promise<JsonObject> {
  const { sig_b64u: _old, ...rest } = body;
  return { ...rest, sig_b64u: toBase64url(await signer.sign(canonicalBytes(rest))) };
}

const code = (name: ErrorCode): unknown => expect.objectContaining({ code: name });
const fingerprint = rootFingerprint(root.publicKey);

let bundle: JsonObject;
let pin: TrustPin;

beforeAll(async () => {
  bundle = await bundleOf();
  ({ pin } = await checkTrustBundle(bundle, { now: NOW }));
});

describe('a bundle', () => {
  test('is what its root signed, and says what it was made of', async () => {
    const { bundle: read, pin: fresh } = await checkTrustBundle(bundle, { now: NOW });
    expect(read).toMatchObject({
      type: 'svc-trust-v1',
      version: 7,
      issued_at: '2026-06-01T11:59:59Z',
      expires_at: '2026-06-02T12:00:00Z',
      root: { key_id: root.keyId },
      issuers: facts.issuers,
      log: facts.log,
      chain: facts.chain,
    });
    expect(fresh).toMatchObject({ root: fingerprint, version: 7 });
  });

  test('makes its issuers’ receipts trusted', async () => {
    const { bundle: read } = await checkTrustBundle(bundle, { now: NOW });
    const receipt = await sampleReceipt('standard', 'did:svc:alice', receiptKey);
    expect(await verify(receipt, { now: NOW, trust: trustOf(read.issuers) })).toMatchObject({
      issuer: { trusted: true },
    });
  });

  test('may name those who are paid, each in full', async () => {
    const payee = {
      chain_id: 8453,
      asset: 'USDC',
      token: `0x${'01'.repeat(20)}`,
      decimals: 6,
      address: `0x${'02'.repeat(20)}`,
    };
    const { bundle: read } = await checkTrustBundle(await bundleOf({ payees: [payee] }), { now: NOW });
    expect(read.payees).toEqual([payee]);
    expect(bundle).not.toHaveProperty('payees');
    for (const payees of [payee, [{ ...payee, decimals: '6' }], [{ ...payee, address: '' }]]) {
      const wrong = await signed({ ...bundle, payees });
      await expect(checkTrustBundle(wrong, { now: NOW })).rejects.toEqual(code('trust_invalid'));
    }
  });

  test('may name neither log nor chain', async () => {
    const bare = await bundleOf({ log: null, chain: null, issuers: [] });
    await expect(checkTrustBundle(bare, { now: NOW })).resolves.toMatchObject({
      bundle: { log: null, chain: null, issuers: [] },
    });
  });

  test('may carry members that are not known yet, which are signed like the rest', async () => {
    const more = await signed({ ...bundle, 'x-more': [1] });
    await expect(checkTrustBundle(more, { now: NOW })).resolves.toBeDefined();
    await expect(checkTrustBundle({ ...bundle, 'x-more': [1] }, { now: NOW })).rejects.toEqual(
      code('trust_signature_invalid'),
    );
  });

  test('is read once, so that a getter cannot show the signature one value and the client another', async () => {
    for (let turn = 1; turn < 8; turn++) {
      let reads = 0;
      const changing = {
        ...bundle,
        get version() {
          reads += 1;
          return reads >= turn ? 99 : 7;
        },
      };
      const outcome = await checkTrustBundle(changing, { now: NOW }).then(
        ({ bundle: { version } }) => version,
        (error: unknown) => error,
      );
      expect([code('trust_signature_invalid'), 7]).toContainEqual(outcome);
    }
  });
});

describe('a step back is refused', () => {
  test('the pinned bundle itself and a newer one are accepted', async () => {
    await expect(checkTrustBundle(bundle, { now: NOW, pin })).resolves.toEqual({ bundle, pin });
    const newer = await checkTrustBundle(await bundleOf({ version: 8 }), { now: NOW, pin });
    expect(newer.pin).toMatchObject({ root: pin.root, version: 8 });
    expect(newer.pin.bundle_sha256).not.toBe(pin.bundle_sha256);
  });

  test('an older version', async () => {
    const older = await bundleOf({ version: 6 });
    await expect(checkTrustBundle(older, { now: NOW, pin })).rejects.toEqual(code('trust_rollback'));
    await expect(checkTrustBundle(older, { now: NOW })).resolves.toBeDefined();
  });

  test('another bundle of the same version', async () => {
    const twin = await bundleOf({ issuers: [] });
    await expect(checkTrustBundle(twin, { now: NOW, pin })).rejects.toEqual(code('trust_rollback'));
  });

  test('an older version of another root, whatever its number', async () => {
    for (const version of [6, 7, 8]) {
      const foreign = await bundleOf({ version }, otherRoot);
      await expect(checkTrustBundle(foreign, { now: NOW, pin })).rejects.toEqual(code('trust_root_mismatch'));
    }
  });
});

describe('expiry', () => {
  test.each([
    [EXPIRES - 1, true],
    [EXPIRES, false],
    [EXPIRES + 1, false],
  ])('at %i: good is %s', async (now, good) => {
    const outcome = await checkTrustBundle(bundle, { now }).catch((error: unknown) => error);
    expect(outcome).toEqual(good ? { bundle, pin } : code('trust_expired'));
  });
});

describe('the first fetch', () => {
  test('accepts any root when there is nothing to compare with', async () => {
    await expect(checkTrustBundle(await bundleOf({}, otherRoot), { now: NOW })).resolves.toMatchObject({
      pin: { root: rootFingerprint(otherRoot.publicKey) },
    });
  });

  test('refuses another root than the fingerprint', async () => {
    await expect(checkTrustBundle(bundle, { now: NOW, root: fingerprint })).resolves.toMatchObject({ pin });
    const foreign = await bundleOf({}, otherRoot);
    await expect(checkTrustBundle(foreign, { now: NOW, root: fingerprint })).rejects.toEqual(
      code('trust_root_mismatch'),
    );
  });

  test('a fingerprint is sha256: and 64 hex, and counts beside a pin', async () => {
    expect(fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
    await expect(checkTrustBundle(bundle, { now: NOW, pin, root: fingerprint })).resolves.toBeDefined();
    const foreign = { now: NOW, pin, root: rootFingerprint(otherRoot.publicKey) };
    for (const one of [bundle, await bundleOf({}, otherRoot)]) {
      await expect(checkTrustBundle(one, foreign)).rejects.toEqual(code('trust_root_mismatch'));
    }
  });
});

describe('tampering', () => {
  /** Every place of the document with something else of the same type in it. */
  function* tampered(value: JsonValue, path = ''): Generator<[path: string, value: JsonValue]> {
    if (typeof value === 'string')
      yield [path, value === '' ? 'x' : value.slice(0, -1) + (value.endsWith('A') ? 'Q' : 'A')];
    else if (typeof value === 'number') yield [path, value + 1];
    else if (typeof value === 'boolean') yield [path, !value];
    else if (value === null) yield [path, '2026-06-01T12:00:00Z'];
    else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        yield [`${path}[${index}]`, value.toSpliced(index, 1)];
        for (const [at, other] of tampered(item, `${path}[${index}]`)) yield [at, value.with(index, other)];
      }
    } else {
      for (const [name, member] of Object.entries(value)) {
        for (const [at, other] of tampered(member, `${path}.${name}`))
          yield [at, { ...value, [name]: other }];
      }
    }
  }

  test('with any member is refused', async () => {
    const outcomes = new Map<string, unknown>();
    for (const [path, document] of tampered(bundle)) {
      const outcome = await checkTrustBundle(document, { now: NOW }).catch((error: unknown) => error);
      outcomes.set(path, outcome instanceof TallyError ? outcome.code : outcome);
    }
    expect(outcomes.size).toBeGreaterThan(30);
    for (const outcome of outcomes)
      expect(outcome).toEqual([outcome[0], expect.stringMatching(/^trust_(signature_)?invalid$/)]);
  });

  test('a signature of another key, with the root’s name, is refused', async () => {
    await expect(checkTrustBundle(await signed(bundle, otherRoot), { now: NOW })).rejects.toEqual(
      code('trust_signature_invalid'),
    );
  });

  test('a root that calls itself by another key’s id is refused', async () => {
    const misnamed = await signed({
      ...bundle,
      root: { ...(bundle.root as JsonObject), key_id: otherRoot.keyId },
    });
    await expect(checkTrustBundle(misnamed, { now: NOW })).rejects.toEqual(code('trust_invalid'));
  });
});

describe('malformed', () => {
  const records = (): JsonObject[] => bundle.issuers as JsonObject[];
  const withKey = (change: JsonObject): JsonObject => {
    const [record] = records();
    const [key] = (record as JsonObject).keys as JsonObject[];
    return { issuers: [{ ...record, keys: [{ ...key, ...change }] }] };
  };

  test.each<[field: string, change: () => JsonObject]>([
    ['type', () => ({ type: 'svc-issue-v1' })],
    ['version', () => ({ version: 0 })],
    ['version', () => ({ version: 1.5 })],
    ['version', () => ({ version: '7' })],
    ['issued_at', () => ({ issued_at: 'yesterday' })],
    ['expires_at', () => ({ expires_at: '2026-13-01T00:00:00Z' })],
    ['root', () => ({ root: null })],
    ['root.public_key', () => ({ root: { key_id: root.keyId, public_key: 'AA' } })],
    ['issuers', () => ({ issuers: {} })],
    ['issuers[0]', () => ({ issuers: ['did:svc:alice'] })],
    ['issuers[0].did', () => ({ issuers: [{ ...records()[0], did: 'alice' }] })],
    ['issuers[0].status', () => ({ issuers: [{ ...records()[0], status: 'trusted' }] })],
    ['issuers[0].keys', () => ({ issuers: [{ ...records()[0], keys: null }] })],
    ['issuers[0].keys[0].purpose', () => withKey({ purpose: 'Any' })],
    ['issuers[0].keys[0].state', () => withKey({ state: 'asleep' })],
    ['issuers[0].keys[0].public_key', () => withKey({ public_key: 'B'.repeat(43) })],
    ['issuers[0].keys[0].valid_until', () => withKey({ valid_until: 1 })],
    [
      'issuers[0].keys[0].revoked.reason',
      () => withKey({ revoked: { at: '2026-06-01T12:00:00Z', reason: 'why not' } }),
    ],
    ['log.origin', () => ({ log: { ...(bundle.log as JsonObject), origin: '' } })],
    ['chain.chain_id', () => ({ chain: { ...(bundle.chain as JsonObject), chain_id: 0 } })],
    ['sig_b64u', () => ({ sig_b64u: 'A'.repeat(85) })],
  ])('%s is named', async (field, change) => {
    const document = await signed({ ...bundle, ...change() });
    const broken = field === 'sig_b64u' ? { ...document, ...change() } : document;
    await expect(checkTrustBundle(broken, { now: NOW })).rejects.toMatchObject({
      code: 'trust_invalid',
      field,
    });
  });

  test.each([null, [], 'bundle', 7, {}])('%j is no bundle', async (document) => {
    await expect(checkTrustBundle(document, { now: NOW })).rejects.toEqual(code('trust_invalid'));
  });

  test('what is not plain JSON is refused as such', async () => {
    await expect(checkTrustBundle({ ...bundle, more: undefined }, { now: NOW })).rejects.toEqual(
      code('json_not_plain'),
    );
    await expect(checkTrustBundle(new Map(), { now: NOW })).rejects.toEqual(code('json_not_plain'));
  });
});

test('the text of a bundle is its canonical form', async () => {
  const text = await signTrustBundle(facts, root);
  expect(canonicalize(parsed(text))).toBe(text);
});
