import { canonicalize, copyJson } from '@tallystick/core';
import { type ForeignVerification, verifyForeign as verifyFile } from '@tallystick/core/foreign';
import { type KnownIssuers, knownIssuers } from '../trust/known-issuers.ts';
import type { ReceiptInput } from './read.ts';

export interface VerifyForeignParams extends KnownIssuers {
  /** Time to judge at, in Unix milliseconds: now when absent. */
  readonly now?: number | undefined;
  /**
   * Keys of which one must have signed each receipt, and which are then trusted: a did:key, 64 hex digits, base64url of 32
   * bytes, an address, PEM, a JWK or JWK Set, or a log's verifier key.
   */
  readonly keys?: readonly string[] | undefined;
  /** The entry that a tlog-proof is about: the bytes that the log hashed. */
  readonly entry?: Uint8Array | undefined;
}

/**
 * Verifies receipts of other makers locally, without the network: Acta (also a chain, as a list or JSON Lines), x402,
 * DSSE with in-toto, tlog-proofs, `x-agent-trust`. Returns null for what is none of these; `notes` says what they do not cover.
 * @throws invalid_public_key for a key that is none; json_* for an object that is not plain JSON; trust_expired,
 * trust_unavailable for a store that holds nothing; issuer_proof_invalid for a record that does not follow from its history
 */
export async function verifyForeign(
  file: ReceiptInput,
  { trust, issuer, now = Date.now(), keys, entry }: VerifyForeignParams = {},
): Promise<ForeignVerification | null> {
  const isFile = typeof file === 'string' || file instanceof Uint8Array;
  return verifyFile(isFile ? file : canonicalize(copyJson(file)), {
    now,
    keys,
    entry,
    trust: await knownIssuers({ trust, issuer }, now),
  });
}
