import {
  checkTrustBundle,
  parseTimestamp,
  TallyError,
  type Trust,
  type TrustBundle,
  type TrustPin,
  trustOf,
} from '@tallystick/core';
import { type ReceiptInput, readReceipt } from '../receipts/read.ts';

/** A trust bundle with a valid signature, the pin to remember, and the bundle's issuers. */
export interface CheckedTrust {
  readonly bundle: TrustBundle;
  /** Pass it to the next check, so that an older bundle and one of another root are refused. */
  readonly pin: TrustPin;
  readonly issuers: Trust;
}

export interface CheckTrustOptions {
  /** Fingerprint of the root's public key, `sha256:<hex>`, known from elsewhere than the bundle. */
  readonly root?: string | undefined;
  /** Pin that an earlier check returned. */
  readonly pin?: TrustPin | undefined;
  /** Time to judge at, in Unix milliseconds: now when absent. */
  readonly now?: number | undefined;
}

/**
 * Checks a trust bundle, from any source, as text, bytes or document.
 * @throws trust_invalid, trust_signature_invalid, trust_root_mismatch, trust_rollback, trust_expired, json_*
 */
export async function checkTrust(
  bundle: ReceiptInput,
  { root, pin, now = Date.now() }: CheckTrustOptions = {},
): Promise<CheckedTrust> {
  const checked = await checkTrustBundle(readReceipt(bundle), { now, pin, root });
  return { ...checked, issuers: trustOf(checked.bundle.issuers, [checked.bundle]) };
}

/** Returns the trust unless it has expired since it was checked. @throws trust_expired */
export function recheckTrust(trust: CheckedTrust, now: number): CheckedTrust {
  const { expires_at } = trust.bundle;
  const expires = parseTimestamp(expires_at);
  if (expires === null || expires.seconds * 1_000 <= now) {
    throw new TallyError('trust_expired', `The trust bundle expired at ${expires_at}. Fetch a newer one.`);
  }
  return trust;
}
