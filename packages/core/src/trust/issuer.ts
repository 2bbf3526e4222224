import { didKeyOf } from '../did/key.ts';
import { publicKeyFault } from '../ed25519/profile.ts';
import { fromBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import type { JsonValue } from '../json/types.ts';
import {
  bytes32,
  did,
  type Infer,
  keyId,
  listOf,
  type Members,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  pattern,
  requireShape,
  timestamp,
} from '../receipts/shape.ts';
import { type AnchorAuthority, logsOf } from './authority.ts';

/** Purposes of keys. A key never signs for two purposes. */
export const KEY_PURPOSES = [
  'root',
  'receipt',
  'log',
  'status',
  'benchmark',
  'bundle',
  'head',
  'cose',
] as const;
export type KeyPurpose = (typeof KEY_PURPOSES)[number];

/** A purpose as documents name it. One that this release does not know is no fault: its key signs nothing that is judged here. */
export const keyPurpose = pattern(/^[a-z][a-z0-9_-]{0,31}$/, 'the purpose of a key');

/** Reasons of revocation. `compromised` takes trust from everything that was not anchored before the revocation. */
export const REVOCATION_REASONS = ['compromised', 'superseded', 'ceased', 'unspecified'] as const;
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

const keyTimes = {
  state: oneOf('pending', 'active', 'retired', 'revoked'),
  valid_from: timestamp,
  valid_until: nullable(timestamp),
  revoked: nullable(object({ at: timestamp, reason: oneOf(...REVOCATION_REASONS) })),
} as const;

/** When a key signs, as its state and window say. */
export type KeyTimes = Members<typeof keyTimes>;

const issuerKey = object({
  key_id: keyId,
  /** base64url, 32 bytes. */
  public_key: bytes32,
  purpose: keyPurpose,
  ...keyTimes,
});

const pqKey = object({ alg: nonEmptyText, key_id: nonEmptyText, public_key: nonEmptyText, ...keyTimes });

/** A key for second signatures of pq receipts, which are experimental. `public_key` is base64url. */
export type PqKey = Infer<typeof pqKey>;

/** The key as a keyring or a bundle lists it. @throws invalid_field */
export function readPqKey(value: JsonValue): PqKey {
  return requireShape(pqKey, value);
}

/** The key as a keyring lists it. @throws invalid_field */
export function readIssuerKey(value: JsonValue): IssuerKey {
  return requireShape(issuerKey, value);
}

/** The shape of an issuer record; other members are allowed. */
export const issuerRecord = object(
  {
    did,
    status: oneOf('registered', 'verified'),
    keys: listOf(issuerKey, 'a list of keys'),
  },
  { optional: { pq_keys: listOf(pqKey, 'a list of keys') } },
);

/**
 * One key of an issuer. It signs for [valid_from, valid_until), whole seconds; `valid_until` null is open.
 * A revoked key signs nothing from `revoked.at` on.
 */
export type IssuerKey = Infer<typeof issuerKey>;

/** `registered` by proof of possession alone; `verified` by an act of the service's operator. */
export type IssuerRecord = Infer<typeof issuerRecord>;

/** Issuers that a verifier knows, found by DID or by key, and the logs whose anchors count. */
export interface Trust {
  issuer(did: string): IssuerRecord | undefined;
  /** The issuer that holds the key, a verified one first. */
  holder(publicKey: string): IssuerRecord | undefined;
  key(keyId: string): IssuerKey | undefined;
  readonly anchors: readonly AnchorAuthority[];
}

/**
 * Indexes issuer records. The first record of a DID wins.
 * @param anchors a trust bundle is one
 * @throws trust_invalid when a key is unusable, or a did:key stands beside another public key than its own
 */
export function trustOf(records: Iterable<IssuerRecord>, anchors: readonly AnchorAuthority[] = []): Trust {
  const issuers = new Map<string, IssuerRecord>();
  const holders = new Map<string, IssuerRecord>();
  const keys = new Map<string, IssuerKey>();
  for (const record of records) {
    if (issuers.has(record.did)) continue;
    issuers.set(record.did, record);
    for (const key of record.keys) {
      assertOwnKey(key);
      if (!keys.has(key.key_id) || record.status === 'verified') keys.set(key.key_id, key);
      if (!holders.has(key.public_key) || record.status === 'verified') holders.set(key.public_key, record);
    }
  }
  for (const log of logsOf(anchors)) assertOwnKey(log);
  return {
    anchors,
    issuer: (did) => issuers.get(did),
    holder: (publicKey) => holders.get(publicKey),
    key: (id) => keys.get(id),
  };
}

function assertOwnKey({ key_id, public_key }: Pick<IssuerKey, 'key_id' | 'public_key'>): void {
  const fault = publicKeyFault(fromBase64url(public_key, 32));
  if (fault !== undefined) throw new TallyError('trust_invalid', `The public key of ${key_id} ${fault}.`);
  if (key_id.startsWith('did:key:') && key_id !== didKeyOf(fromBase64url(public_key, 32))) {
    throw new TallyError('trust_invalid', `${key_id} does not match its public key.`);
  }
}

/** Trust that looks in `first`, then in `second`. */
export function bothTrusts(first: Trust, second: Trust): Trust {
  return {
    anchors: [...first.anchors, ...second.anchors],
    issuer: (did) => first.issuer(did) ?? second.issuer(did),
    holder: (publicKey) => first.holder(publicKey) ?? second.holder(publicKey),
    key: (id) => first.key(id) ?? second.key(id),
  };
}
