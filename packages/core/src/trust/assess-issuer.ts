import { didKeyOf } from '../did/key.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { type Check, CLOCK_SKEW, type Claims, failed, passed, unchecked } from '../receipts/family.ts';
import { formatTimestamp, secondsOf } from '../time.ts';
import type { IssuerKey, IssuerRecord, KeyPurpose, KeyTimes, Trust } from './issuer.ts';

export interface IssuerVerdict {
  readonly did: string | null;
  readonly status: 'verified' | 'registered' | 'unknown' | 'contradicted';
  readonly keyState: IssuerKey['state'] | 'compromised' | 'unknown';
  readonly trusted: boolean;
  readonly checks: readonly Check[];
}

/**
 * Judges who owns the key that signed, and whether the key was valid then. A receipt that contradicts what is known of the
 * issuer that it names fails; a receipt of an unknown issuer is only untrusted.
 * @param publicKey null when the receipt's key could not be determined
 * @param anchoredAt Unix milliseconds at which the receipt is known to have existed
 * @param purpose purpose that the key must have
 */
export function assessIssuer(
  claims: Claims,
  publicKey: Uint8Array | null,
  trust: Trust,
  anchoredAt: number | undefined,
  purpose: KeyPurpose = 'receipt',
): IssuerVerdict {
  const contradicted = (did: string | null, detail: string): IssuerVerdict => ({
    did,
    status: 'contradicted',
    keyState: 'unknown',
    trusted: false,
    checks: [
      failed('issuer', detail),
      unchecked('key_window', 'Not reached: the key is not known to belong to the issuer.'),
    ],
  });
  const named = claims.issuerDid;
  if (publicKey === null) return contradicted(named, "The receipt's key could not be determined.");
  const encoded = toBase64url(publicKey);
  const record = named === null ? trust.holder(encoded) : trust.issuer(named);
  if (record === undefined) {
    const signer = claims.keyId ?? didKeyOf(publicKey);
    if (named?.startsWith('did:key:') && named !== signer) {
      return contradicted(named, `${named} did not sign this; ${signer} did.`);
    }
    return unknownIssuer(named);
  }
  const key = record.keys.find(({ public_key }) => public_key === encoded);
  if (key === undefined)
    return contradicted(record.did, `${record.did} does not hold the key that signed this.`);
  if (key.purpose !== purpose) {
    const expected = purpose === 'receipt' ? 'receipts' : purpose;
    return contradicted(record.did, `The key of ${record.did} is for ${key.purpose}, not for ${expected}.`);
  }
  if (claims.issuerVerified === true && record.status !== 'verified') {
    return contradicted(record.did, `${record.did} claims to be verified, but is only ${record.status}.`);
  }
  return knownIssuer(record, key, claims, anchoredAt);
}

function unknownIssuer(did: string | null): IssuerVerdict {
  return {
    did,
    status: 'unknown',
    keyState: 'unknown',
    trusted: false,
    checks: [
      unchecked('issuer', 'The given trust does not list this issuer.'),
      unchecked('key_window', 'It is not known when this key was in use.'),
    ],
  };
}

function knownIssuer(
  record: IssuerRecord,
  key: IssuerKey,
  claims: Claims,
  anchoredAt: number | undefined,
): IssuerVerdict {
  const window = keyWindow(key, claims, anchoredAt);
  return {
    did: record.did,
    status: record.status,
    keyState: isCompromised(key) ? 'compromised' : key.state,
    trusted: record.status === 'verified' && window.ok === true,
    checks: [passed('issuer', `The key belongs to ${record.did}, which is ${record.status}.`), window],
  };
}

const isCompromised = ({ revoked }: KeyTimes): boolean => revoked?.reason === 'compromised';

/** Checks that a key could sign when the receipt says that it was issued; null for a compromised one that no anchor dates. */
export function keyWindow(key: KeyTimes, claims: Claims, anchoredAt: number | undefined): Check {
  const window = windowCheck(key, claims, anchoredAt);
  const datedByAnchor =
    anchoredAt !== undefined && key.revoked !== null && anchoredAt < secondsOf(key.revoked.at) * 1000;
  return window.ok && isCompromised(key) && !datedByAnchor
    ? unchecked('key_window', 'The key was compromised, and nothing proves that this was signed earlier.')
    : window;
}

function windowCheck(
  key: KeyTimes,
  { issuedAt, mayBeSignedLater = false }: Claims,
  anchoredAt: number | undefined,
): Check {
  const name = 'key_window';
  const named = mayBeSignedLater ? 'this says that it was compiled at' : 'this was issued at';
  const failedAt = (what: string): Check =>
    failed(name, `${what}; ${named} ${formatTimestamp(issuedAt * 1000)}.`);
  if (key.state === 'pending') return failed(name, 'The key is not in use yet.');
  const undated = { active: false, retired: key.valid_until === null, revoked: key.revoked === null }[
    key.state
  ];
  if (undated) return failed(name, `The key is ${key.state}, and its record does not say since when.`);
  const start = secondsOf(key.valid_from);
  const isEarly = issuedAt < start;
  if (isEarly && !mayBeSignedLater) return failedAt(`The key is valid only from ${key.valid_from} on`);
  if (isEarly && anchoredAt !== undefined && anchoredAt < (start - CLOCK_SKEW) * 1000) {
    const anchored = formatTimestamp(anchoredAt);
    return failed(name, `The key is valid only from ${key.valid_from} on; this was anchored at ${anchored}.`);
  }
  if (key.valid_until !== null && issuedAt >= secondsOf(key.valid_until)) {
    return failedAt(`The key was valid until ${key.valid_until}`);
  }
  if (key.revoked !== null && issuedAt >= secondsOf(key.revoked.at)) {
    return failedAt(`The key was revoked at ${key.revoked.at} (${key.revoked.reason})`);
  }
  if (isEarly) {
    return passed(
      name,
      `This says that it was compiled at ${formatTimestamp(issuedAt * 1000)}. The key is valid only from ${key.valid_from} on, so it was signed later than compiled. Only an anchor shows when.`,
    );
  }
  return passed(
    name,
    `The key was in use when this ${mayBeSignedLater ? 'says that it was compiled' : 'was issued'}.`,
  );
}
