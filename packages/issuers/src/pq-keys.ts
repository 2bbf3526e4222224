import {
  formatTimestamp,
  type IssuerRecord,
  PQ_ALGORITHM,
  type PqKey,
  type PqSigner,
  type RevocationReason,
  TallyError,
  toBase64url,
} from '@tallystick/core';
import { nodePqSigner } from '@tallystick/kit';
import type { Keyring, PqKeyEntry } from './keyring.ts';

/** Seconds for which an outgoing key stays valid, as for the other keys. */
const GRACE = 60;

const wholeSeconds = (ms: number): string => formatTimestamp(Math.floor(ms / 1000) * 1000);

/** Adds an ML-DSA-65 key, which is used from now on (Unix milliseconds). An active one is retired after the time of grace. */
export function addPqKey(keyring: Keyring, now: number): Keyring {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const { keyId, publicKey } = nodePqSigner(secret);
  const record: PqKey = {
    alg: PQ_ALGORITHM,
    key_id: keyId,
    public_key: toBase64url(publicKey),
    state: 'active',
    valid_from: wholeSeconds(now),
    valid_until: null,
    revoked: null,
  };
  const until = wholeSeconds(now + GRACE * 1000);
  const retired = keyring.pqKeys.map(
    (entry): PqKeyEntry =>
      entry.record.state === 'active'
        ? { ...entry, record: { ...entry.record, state: 'retired', valid_until: until } }
        : entry,
  );
  return { ...keyring, pqKeys: [...retired, { record, secret }] };
}

/** Revokes an ML-DSA key from `at` on (Unix milliseconds). None takes its place. @throws invalid_field for an unknown key */
export function revokePqKey(keyring: Keyring, keyId: string, reason: RevocationReason, at: number): Keyring {
  if (!keyring.pqKeys.some(({ record }) => record.key_id === keyId)) {
    throw new TallyError('invalid_field', `${keyId} is not a key of ${keyring.document.did}.`, {
      field: 'key_id',
    });
  }
  const pqKeys = keyring.pqKeys.map((entry): PqKeyEntry => {
    if (entry.record.key_id !== keyId) return entry;
    return {
      ...entry,
      record: { ...entry.record, state: 'revoked', revoked: { at: wholeSeconds(at), reason } },
    };
  });
  return { ...keyring, pqKeys };
}

/** The signer of the active ML-DSA key. @throws unavailable when there is none */
export function pqSignerOf(keyring: Keyring): PqSigner {
  const active = keyring.pqKeys.findLast(({ record }) => record.state === 'active');
  if (active === undefined) {
    throw new TallyError(
      'unavailable',
      'TALLY_PQ_SIGNATURES is on, but the keyring holds no active ML-DSA key. Make one with `tally keys pq`.',
    );
  }
  return nodePqSigner(active.secret);
}

/** What verifiers are told of the service as an issuer: its record, its keys of before, and its ML-DSA keys. */
export function ownRecord({ document, earlierKeys, pqKeys }: Keyring): IssuerRecord {
  const { did, status } = document;
  const keys = [...document.keys, ...earlierKeys];
  const records = pqKeys.map(({ record }) => record);
  return { did, status, keys, ...(records.length > 0 && { pq_keys: records }) };
}
