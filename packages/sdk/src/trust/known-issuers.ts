import { bothTrusts, type IssuerDocument, registeredIssuer, type Trust, trustOf } from '@tallystick/core';
import { type CheckedTrust, recheckTrust } from './check-trust.ts';
import { openTrustStore, type TrustStore } from './trust-store.ts';

/** Issuers that a receipt is judged by. */
export interface KnownIssuers {
  /** Trust to verify by: the result of `fetchTrust` or `checkTrust`, or a store that holds it. When absent, nobody is trusted. */
  readonly trust?: CheckedTrust | TrustStore | undefined;
  /**
   * The record of an issuer that the trust does not list, from `client.issuer`: the issuer counts as registered, and is
   * never trusted.
   */
  readonly issuer?: IssuerDocument | undefined;
}

/**
 * Reads the issuers, at a time in Unix milliseconds.
 * @throws trust_expired, trust_unavailable for a store that holds nothing; issuer_proof_invalid for a record that does not
 * follow from its history
 */
export async function knownIssuers({ trust, issuer }: KnownIssuers, now: number): Promise<Trust> {
  const listed = await listedIssuers(trust, now);
  return issuer === undefined ? listed : bothTrusts(listed, trustOf([await registeredIssuer(issuer)]));
}

async function listedIssuers(trust: CheckedTrust | TrustStore | undefined, now: number): Promise<Trust> {
  if (trust === undefined) return trustOf([]);
  const checked = 'load' in trust ? await openTrustStore(trust, now) : recheckTrust(trust, now);
  return checked.issuers;
}
