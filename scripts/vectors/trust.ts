import {
  canonicalBytes,
  type JsonObject,
  rootFingerprint,
  type Signer,
  sha256Hex,
  signTrustBundle,
  type TrustPin,
  toBase64url,
} from '../../packages/core/src/index.ts';
import { NOW } from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { smallOrderKey, universalSignature, withLargeS, withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { payee } from './settlements.ts';
import { asDocument, signIssue } from './sign.ts';
import { ENDED_AT, records, SERVICE_DID } from './stores.ts';

/** A bundle to check at `now`, with the `pin` that the client remembers or the `root` that it was given. */
export interface TrustCase {
  readonly name: string;
  readonly comment: string;
  readonly bundle: JsonObject;
  readonly now: string;
  readonly pin?: object;
  readonly root?: string;
  /** The pin to remember, or the code of the error. */
  readonly expected: { readonly pin: TrustPin } | { readonly code: string };
}

const ISSUED = Date.parse('2026-01-01T00:00:00Z');
const EXPIRES = '2026-04-01T00:00:00Z';

const SPAN = { valid_from: null, valid_until: '2025-06-01T00:00:00Z' };
const earlierLog: JsonObject = {
  origin: 'first.example/log',
  key_id: signers.log.keyId,
  public_key: toBase64url(signers.log.publicKey),
  last_size: 1207,
  ...SPAN,
};
const earlierAccount: JsonObject = {
  origin: 'first.example/log',
  network: 'base',
  chain_id: 8453,
  address: `0x${'00'.repeat(19)}bb`,
  ...SPAN,
};
const history: JsonObject = { logs: [earlierLog], chains: [earlierAccount] };

export async function trustCases(): Promise<TrustCase[]> {
  const good = await bundle(3);
  return [...(await acceptedCases(good)), ...(await refusedCases(good)), ...(await malformedCases(good))];
}

export async function bundle(version: number, root: Signer = signers.root): Promise<JsonObject> {
  const facts = {
    version,
    issuedAt: ISSUED,
    expiresAt: Date.parse(EXPIRES),
    issuers: [records.service],
    log: {
      origin: 'receipts.example/log',
      key_id: signers.log.keyId,
      public_key: toBase64url(signers.log.publicKey),
    },
    chain: { network: 'base', chain_id: 8453, address: `0x${'00'.repeat(19)}aa` },
  };
  return asDocument(await signTrustBundle(facts, root));
}

function pinOf(document: JsonObject, root: Signer = signers.root): TrustPin {
  return {
    root: rootFingerprint(root.publicKey),
    version: Number(document.version),
    bundle_sha256: sha256Hex(canonicalBytes(document)),
  };
}

async function acceptedCases(good: JsonObject): Promise<TrustCase[]> {
  const accepts = (
    name: string,
    comment: string,
    document: JsonObject,
    options: Partial<TrustCase> = {},
  ): TrustCase => ({
    name,
    comment,
    bundle: document,
    now: NOW,
    ...options,
    expected: { pin: pinOf(document) },
  });
  const older = await bundle(2);
  const extended = await signIssue({ ...good, x_note: 'signed like the rest' }, signers.root);
  return [
    accepts('first fetch', 'Nothing is pinned yet: the root is taken on first use.', good),
    accepts('first fetch, root known', 'The fingerprint was learnt elsewhere.', good, {
      root: rootFingerprint(signers.root.publicKey),
    }),
    accepts('same bundle again', 'Of the pinned version, and the same.', good, { pin: pinOf(good) }),
    accepts('same bundle again, root known', 'Pin and fingerprint are of one root.', good, {
      pin: pinOf(good),
      root: rootFingerprint(signers.root.publicKey),
    }),
    accepts('newer bundle', 'Versions grow.', good, { pin: pinOf(older) }),
    accepts('unknown member', 'The format only adds members.', extended),
    accepts(
      'key of an unknown purpose',
      'Verifiers pass over it: it signs nothing that they judge.',
      await signIssue(withPurpose(good, 'x-later'), signers.root),
    ),
    accepts('last millisecond', 'expires_at is exclusive.', good, { now: '2026-03-31T23:59:59.999Z' }),
    accepts(
      'no log and no chain',
      'Both may be null.',
      await signIssue({ ...good, log: null, chain: null }, signers.root),
    ),
    accepts(
      'payees',
      'The accounts that are paid.',
      await signIssue({ ...good, payees: [payee] }, signers.root),
    ),
    accepts(
      'history',
      'An earlier log and an earlier posting account, and the hash of the bundle before.',
      await signIssue({ ...good, history, previous_sha256: pinOf(older).bundle_sha256 }, signers.root),
    ),
    accepts(
      'the next one',
      'It names the bundle already seen.',
      await signIssue({ ...(await bundle(4)), previous_sha256: pinOf(good).bundle_sha256 }, signers.root),
      { pin: pinOf(good) },
    ),
    accepts(
      'the one after the next',
      'What it names is not known here.',
      await signIssue({ ...(await bundle(5)), previous_sha256: 'ab'.repeat(32) }, signers.root),
      { pin: pinOf(good) },
    ),
    accepts(
      'first of its line',
      'There is no bundle before.',
      await signIssue({ ...good, previous_sha256: null }, signers.root),
    ),
  ];
}

function refused(
  name: string,
  comment: string,
  document: JsonObject,
  code: string,
  options: Partial<TrustCase> = {},
): TrustCase {
  return { name, comment, bundle: document, now: NOW, ...options, expected: { code } };
}

async function refusedCases(good: JsonObject): Promise<TrustCase[]> {
  const { root, stranger } = signers;
  const otherRoot = await bundle(3, signers['other-root']);
  const elsewhere = { root: rootFingerprint(stranger.publicKey) };
  const misnamed = { ...good, root: { key_id: stranger.keyId, public_key: toBase64url(root.publicKey) } };
  const smallOrder = {
    ...good,
    root: { key_id: smallOrderKey.keyId, public_key: smallOrderKey.publicKey },
    sig_b64u: universalSignature,
  };
  const equivocation = await signIssue({ ...good, chain: null }, root);
  const invalid = 'trust_signature_invalid';
  return [
    refused(
      'other root than the pinned one',
      'Even with a good signature.',
      otherRoot,
      'trust_root_mismatch',
      { pin: pinOf(good) },
    ),
    refused('other root than the known one', 'At the first fetch.', good, 'trust_root_mismatch', elsewhere),
    refused(
      'the pinned root, which is not the known one',
      'A pin does not take the place of a fingerprint that is given: both are compared.',
      good,
      'trust_root_mismatch',
      { pin: pinOf(good), ...elsewhere },
    ),
    refused(
      'the known root, which is not the pinned one',
      'Nor does the fingerprint take the place of the pin.',
      otherRoot,
      'trust_root_mismatch',
      { pin: pinOf(good), root: rootFingerprint(signers['other-root'].publicKey) },
    ),
    refused(
      'other root, changed',
      'The root is compared first.',
      { ...otherRoot, version: 9 },
      'trust_root_mismatch',
      { pin: pinOf(good) },
    ),
    refused('pin without a root', 'A damaged pin never counts as none.', good, 'trust_invalid', {
      pin: { version: 3, bundle_sha256: pinOf(good).bundle_sha256 },
    }),
    refused('pin whose root was cut off', 'As above.', good, 'trust_invalid', {
      pin: { ...pinOf(good), root: pinOf(good).root.slice(0, 40) },
    }),
    refused('pin whose version is a text', 'No version is below it.', await bundle(2), 'trust_invalid', {
      pin: { ...pinOf(good), version: '3' },
    }),
    refused('pin without a hash', 'Any bundle of the pinned version would pass.', good, 'trust_invalid', {
      pin: { root: pinOf(good).root, version: 3 },
    }),
    refused('rollback', 'Older than the one already seen.', await bundle(2), 'trust_rollback', {
      pin: pinOf(good),
    }),
    refused('equivocation', 'Two bundles of one version.', equivocation, 'trust_rollback', {
      pin: pinOf(good),
    }),
    refused(
      'the next one after another bundle',
      'It names another bundle before it than the one already seen.',
      await signIssue({ ...(await bundle(4)), previous_sha256: 'ab'.repeat(32) }, root),
      'trust_rollback',
      { pin: pinOf(good) },
    ),
    refused('expired', 'At expires_at it is over.', good, 'trust_expired', { now: EXPIRES }),
    refused(
      'says that it is the first',
      'One before it was seen.',
      await signIssue({ ...(await bundle(5)), previous_sha256: null }, root),
      'trust_rollback',
      { pin: pinOf(good) },
    ),
    refused('rollback and expired', 'The step back is told first.', await bundle(2), 'trust_rollback', {
      pin: pinOf(good),
      now: EXPIRES,
    }),
    refused('version changed', 'After it was signed.', { ...good, version: 4 }, invalid),
    refused(
      'expiry changed',
      'After it was signed.',
      { ...good, expires_at: '2027-01-01T00:00:00Z' },
      invalid,
    ),
    refused(
      'issuer added',
      'After it was signed.',
      { ...good, issuers: [records.service, records.acme] as unknown as JsonObject[] },
      invalid,
    ),
    refused(
      'log changed',
      'After it was signed.',
      withMember(good, 'log.origin', 'evil.example/log'),
      invalid,
    ),
    refused('chain changed', 'After it was signed.', withMember(good, 'chain.chain_id', 1), invalid),
    refused('history added', 'After it was signed.', { ...good, history }, invalid),
    refused(
      'earlier log under the did:key of another key',
      'A did:key stands for its own key only.',
      await signIssue(
        { ...good, history: { ...history, logs: [{ ...earlierLog, key_id: stranger.keyId }] } },
        root,
      ),
      'trust_invalid',
    ),
    refused('payees added', 'After it was signed.', { ...good, payees: [payee] }, invalid),
    refused('member added', 'After it was signed.', { ...good, x_note: 1 }, invalid),
    refused('signed by a stranger', 'Who names our root.', await signIssue(good, stranger), invalid),
    refused('small-order root', 'The equation holds for every message under this key.', smallOrder, invalid),
    refused(
      'S + L',
      'S must be below the group order.',
      { ...good, sig_b64u: withLargeS(textAt(good, 'sig_b64u')) },
      invalid,
    ),
    refused(
      'key_id beside another public key',
      'A did:key stands for its own key only.',
      await signIssue(misbound(good), root),
      'trust_invalid',
    ),
    ...(await Promise.all(
      doubles(good).map(async ([name, issuers]) =>
        refused(
          name,
          'Whoever takes the first would trust what whoever takes the last takes for revoked.',
          await signIssue({ ...good, issuers }, root),
          'trust_invalid',
        ),
      ),
    )),
    refused(
      'root.key_id of another key',
      'Signed, but contradicts itself.',
      await signIssue(misnamed, root),
      'trust_invalid',
    ),
  ];
}

/** The bundle with another purpose of the service's first key. */
function withPurpose(good: JsonObject, purpose: string): JsonObject {
  const [service = {}] = good.issuers as JsonObject[];
  const [key = {}] = service.keys as JsonObject[];
  return { ...good, issuers: [{ ...service, keys: [{ ...key, purpose }] }] };
}

/** Issuers of which one, or one of its keys, is listed twice, and not revoked where it comes first. */
function doubles(good: JsonObject): readonly (readonly [string, JsonObject[]])[] {
  const [service = {}] = good.issuers as JsonObject[];
  const [key = {}] = service.keys as JsonObject[];
  const [pq = {}] = service['pq_keys'] as JsonObject[];
  const revoked = { state: 'revoked', revoked: { at: ENDED_AT, reason: 'compromised' } };
  const other = { ...key, key_id: `${SERVICE_DID}:other`, ...revoked };
  return [
    ['an issuer twice', [service, { ...service, keys: [{ ...key, ...revoked }] }]],
    ['a key twice', [{ ...service, keys: [key, { ...key, ...revoked }] }]],
    ['a key under two names', [{ ...service, keys: [key, other] }]],
    [
      'a name of two keys',
      [{ ...service, keys: [other, { ...other, public_key: toBase64url(signers.acme.publicKey) }] }],
    ],
    ['a second key of pq receipts twice', [{ ...service, pq_keys: [pq, { ...pq, ...revoked }] }]],
  ];
}

/** The bundle with the service's first key under the did:key of another key. */
function misbound(good: JsonObject): JsonObject {
  const [service = {}] = good.issuers as JsonObject[];
  const [key = {}] = service.keys as JsonObject[];
  return { ...good, issuers: [{ ...service, keys: [{ ...key, key_id: signers.stranger.keyId }] }] };
}

async function malformedCases(good: JsonObject): Promise<TrustCase[]> {
  const [service = {}] = good.issuers as JsonObject[];
  const [key = {}] = service.keys as JsonObject[];
  const withHistory = (changes: JsonObject): JsonObject => ({ ...good, history: { ...history, ...changes } });
  const withKey = (changed: JsonObject): JsonObject => ({
    ...good,
    issuers: [{ ...service, keys: [changed] }],
  });
  const list: readonly (readonly [string, JsonObject])[] = [
    ['another type', { ...good, type: 'svc-trust-v2' }],
    ['version 0', { ...good, version: 0 }],
    ['version as text', { ...good, version: '3' }],
    ['expires_at missing', withoutMember(good, 'expires_at')],
    ['issuers not a list', { ...good, issuers: {} }],
    ['log missing', withoutMember(good, 'log')],
    ['chain id 0', withMember(good, 'chain.chain_id', 0)],
    ['empty log origin', withMember(good, 'log.origin', '')],
    ['spare bits in the signature', { ...good, sig_b64u: withSpareBits(textAt(good, 'sig_b64u')) }],
    [
      'spare bits in the root',
      withMember(good, 'root.public_key', withSpareBits(textAt(good, 'root.public_key'))),
    ],
    ['history without accounts', { ...good, history: { logs: [] } }],
    ['earlier log without an end', withHistory({ logs: [withoutMember(earlierLog, 'valid_until')] })],
    ['earlier log of a size below 0', withHistory({ logs: [{ ...earlierLog, last_size: -1 }] })],
    ['earlier account without a log', withHistory({ chains: [withoutMember(earlierAccount, 'origin')] })],
    ['hash of the bundle before in capitals', { ...good, previous_sha256: 'A'.repeat(64) }],
    ['payees not a list', { ...good, payees: payee }],
    ['payee without a token', { ...good, payees: [withoutMember(payee, 'token')] }],
    ['payee with too many decimals', { ...good, payees: [{ ...payee, decimals: 37 }] }],
    ['unknown issuer status', { ...good, issuers: [{ ...service, status: 'trusted' }] }],
    ['purpose that is no name', withKey({ ...key, purpose: 'Any' })],
    ['unknown key state', withKey({ ...key, state: 'lost' })],
    ['unknown revocation reason', withKey({ ...key, revoked: { at: EXPIRES, reason: 'bored' } })],
    ['valid_until missing', withKey(withoutMember(key, 'valid_until'))],
    ['key id that is no DID', withKey({ ...key, key_id: 'key-1' })],
  ];
  return Promise.all(
    list.map(async ([name, document]) =>
      refused(`form: ${name}`, 'The form is wrong.', document, 'trust_invalid'),
    ),
  );
}
