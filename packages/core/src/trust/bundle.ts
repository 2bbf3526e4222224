import { didKeyOf } from '../did/key.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import {
  bytes32,
  constant,
  hex64,
  type Infer,
  integer,
  isObject,
  keyId,
  listOf,
  nullable,
  object,
  requireShape,
  sha256Text,
  signature,
  timestamp,
} from '../receipts/shape.ts';
import { formatTimestamp, secondsOf } from '../time.ts';
import { type AnchorAuthority, anchorHistory, chain, log, payee } from './authority.ts';
import { type IssuerRecord, issuerRecord, trustOf } from './issuer.ts';

const TRUST_TYPE = 'svc-trust-v1';

/** Pin that a client keeps of a service: its root, and the newest bundle seen. */
export interface TrustPin {
  /** `sha256:<hex>` of the root's public key. */
  readonly root: string;
  readonly version: number;
  /** SHA-256 of the bundle's JCS bytes, hex, so that a second bundle of the same version is refused. */
  readonly bundle_sha256: string;
}

const pinShape = object({ root: sha256Text, version: integer(1), bundle_sha256: hex64 });

const bundleShape = object(
  {
    type: constant(TRUST_TYPE),
    /** Grows by at least one with every bundle. */
    version: integer(1),
    issued_at: timestamp,
    expires_at: timestamp,
    root: object({ key_id: keyId, public_key: bytes32 }),
    issuers: listOf(issuerRecord, 'a list of issuers'),
    log: nullable(object(log)),
    chain: nullable(object(chain)),
    /** The root's signature over the JCS of all other members: base64url. */
    sig_b64u: signature,
  },
  {
    optional: {
      payees: listOf(payee, 'a list of payees'),
      history: anchorHistory,
      /** SHA-256 of the JCS of the bundle before, with its signature; null in the first. */
      previous_sha256: nullable(hex64),
    },
  },
);

/** The signed list of issuers, keys and anchors that a service vouches for, like a small TUF. */
export type TrustBundle = Infer<typeof bundleShape>;

/** Contents of a new bundle; times are Unix milliseconds. */
export interface TrustBundleFacts extends AnchorAuthority {
  readonly version: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly issuers: readonly IssuerRecord[];
  /** Hash of the bundle before, as `bundleHash` has it; null in the first. */
  readonly previous_sha256?: string | null | undefined;
}

/** Signs a bundle with the root key. Returns its JCS text. */
export async function signTrustBundle(facts: TrustBundleFacts, root: Signer): Promise<string> {
  const body = copyJson({
    type: TRUST_TYPE,
    version: facts.version,
    issued_at: formatTimestamp(facts.issuedAt),
    expires_at: formatTimestamp(facts.expiresAt),
    root: { key_id: root.keyId, public_key: toBase64url(root.publicKey) },
    issuers: facts.issuers,
    log: facts.log,
    chain: facts.chain,
    ...(facts.payees !== undefined && { payees: facts.payees }),
    ...(facts.history !== undefined && { history: facts.history }),
    ...(facts.previous_sha256 !== undefined && { previous_sha256: facts.previous_sha256 }),
  }) as JsonObject;
  const sig_b64u = toBase64url(await root.sign(utf8(canonicalize(body))));
  return canonicalize({ ...body, sig_b64u });
}

/** SHA-256 of a bundle's JCS with its signature, hex: as the next bundle and the pin name it. */
export function bundleHash(bundle: TrustBundle): string {
  return sha256Hex(canonicalBytes(copyJson(bundle)));
}

/** `sha256:<hex>` of a root's public key (32 bytes), for people to compare. */
export function rootFingerprint(publicKey: Uint8Array): string {
  return `sha256:${sha256Hex(publicKey)}`;
}

/**
 * Checks a bundle and, if there is a pin, that it has the pinned root and is not older.
 * @param options.now Unix milliseconds
 * @returns the bundle and the pin to remember from now on
 * @throws trust_invalid, trust_root_mismatch, trust_signature_invalid, trust_rollback, trust_expired
 */
export async function checkTrustBundle(
  document: unknown,
  options: {
    now: number;
    pin?: TrustPin | undefined;
    /** Fingerprint known from elsewhere; it must be the bundle's beside a pin, too. */
    root?: string | undefined;
    engine?: Ed25519Engine | undefined;
  },
): Promise<{ bundle: TrustBundle; pin: TrustPin }> {
  const bundle = requireShape(bundleShape, copyJson(document), 'trust_invalid');
  const pinned = options.pin === undefined ? undefined : readTrustPin(options.pin);
  const { sig_b64u, ...body } = bundle;
  const publicKey = fromBase64url(bundle.root.public_key, 32);
  const root = rootFingerprint(publicKey);
  const expected = [pinned?.root, options.root].find((one) => (one ?? root) !== root);
  if (expected !== undefined) {
    throw new TallyError(
      'trust_root_mismatch',
      `The bundle's root is ${root}, not ${expected}. If the service changed it, remove the pin.`,
    );
  }
  const signed = canonicalBytes(body);
  const engine = options.engine ?? defaultEngine;
  if (!(await verifyEd25519(engine, publicKey, signed, fromBase64url(sig_b64u, 64)))) {
    throw new TallyError('trust_signature_invalid', 'The bundle was changed after its root signed it.');
  }
  if (didKeyOf(publicKey) !== bundle.root.key_id) {
    throw new TallyError('trust_invalid', 'root.key_id is not the did:key of root.public_key.', {
      field: 'root.key_id',
    });
  }
  const pin: TrustPin = { root, version: bundle.version, bundle_sha256: sha256Hex(canonicalBytes(bundle)) };
  refuseStepBack(pin, pinned, bundle.previous_sha256);
  refuseExpired(bundle, options.now);
  refuseDoubles(bundle);
  trustOf(bundle.issuers, [bundle]);
  return { bundle, pin };
}

/**
 * Reads a pin that was kept somewhere. One that is not whole never counts as none, because any bundle would pass then.
 * @throws trust_invalid
 */
export function readTrustPin(value: unknown): TrustPin {
  const fault = pinShape(value as JsonValue | undefined, 'pin');
  if (fault === null) return value as TrustPin;
  const { field, expected } = fault;
  throw new TallyError('trust_invalid', `The pin that was kept is damaged: ${field} must be ${expected}.`, {
    field,
  });
}

/**
 * The bundle in a document: as it is served, or as `tally trust fetch` saves it, with its pin. The bundle is not checked here.
 * @returns the bundle, and the pin beside it, for `checkTrustBundle`
 * @throws trust_invalid if the pin is damaged, or another bundle's
 */
export function readSavedBundle(document: JsonValue): { bundle: JsonValue; pin?: TrustPin } {
  if (!isObject(document) || !isObject(document['bundle'])) return { bundle: document };
  const { bundle, pin } = document;
  if (pin === undefined) return { bundle };
  const kept = readTrustPin(pin);
  if (sha256Hex(canonicalBytes(bundle)) !== kept.bundle_sha256)
    throw new TallyError('trust_invalid', 'The bundle is not the one that the pin beside it names.');
  return { bundle, pin: kept };
}

/**
 * Refuses a bundle that says two things of one issuer or of one of its keys: a reader who takes the first would trust what one who takes the
 * last takes for revoked.
 */
function refuseDoubles({ issuers }: TrustBundle): void {
  requireOnce(issuers, 'did', 'issuers');
  for (const [index, { keys, pq_keys = [] }] of issuers.entries()) {
    for (const name of ['key_id', 'public_key'] as const) {
      requireOnce(keys, name, `issuers[${index}].keys`);
      requireOnce(pq_keys, name, `issuers[${index}].pq_keys`);
    }
  }
}

function requireOnce<Name extends string>(
  list: readonly Readonly<Record<Name, string>>[],
  name: Name,
  path: string,
): void {
  const seen = new Set<string>();
  for (const [index, { [name]: value }] of list.entries()) {
    const field = `${path}[${index}].${name}`;
    if (seen.has(value)) throw new TallyError('trust_invalid', `${field} is ${value} again.`, { field });
    seen.add(value);
  }
}

function refuseStepBack(
  pin: TrustPin,
  pinned: TrustPin | undefined,
  previous: string | null | undefined,
): void {
  if (pinned === undefined) return;
  if (pin.version < pinned.version) {
    throw new TallyError(
      'trust_rollback',
      `The bundle is version ${pin.version}, but version ${pinned.version} was seen before.`,
    );
  }
  const named = pin.version === pinned.version ? pin.bundle_sha256 : previous;
  const isNear = pin.version <= pinned.version + 1;
  if (named === null || (isNear && named !== undefined && named !== pinned.bundle_sha256)) {
    throw new TallyError(
      'trust_rollback',
      `The bundle contradicts the one of version ${pinned.version} seen before.`,
    );
  }
}

function refuseExpired(bundle: TrustBundle, now: number): void {
  if (secondsOf(bundle.expires_at) * 1000 <= now) {
    throw new TallyError('trust_expired', `The bundle expired at ${bundle.expires_at}. Fetch a newer one.`);
  }
}
