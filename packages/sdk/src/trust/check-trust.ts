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

/** A trust bundle whose signature holds, what to remember of it, and its issuers. */
export interface CheckedTrust {
  readonly bundle: TrustBundle;
  /** Give it to the next check, so that an older bundle and one of another root are refused. */
  readonly pin: TrustPin;
  readonly issuers: Trust;
}

export interface CheckTrustOptions {
  /** `sha256:<hex>` of the root's public key, learnt another way than the bundle. */
  readonly root?: string | undefined;
  /** Pin that an earlier check returned. */
  readonly pin?: TrustPin | undefined;
  /** Unix milliseconds: this moment when absent. */
  readonly now?: number | undefined;
}

/**
 * Checks a trust bundle: a text, bytes or a document from wherever.
 * @throws trust_invalid, trust_signature_invalid, trust_root_mismatch, trust_rollback, trust_expired, json_*
 */
export async function checkTrust(
  bundle: ReceiptInput,
  { root, pin, now = Date.now() }: CheckTrustOptions = {},
): Promise<CheckedTrust> {
  if (root !== undefined && pin !== undefined && root !== pin.root) {
    throw new TallyError('trust_root_mismatch', `The pinned root is ${pin.root}, not ${root}.`, {
      field: 'root',
    });
  }
  const checked = await checkTrustBundle(readReceipt(bundle), { now, pin, root });
  return { ...checked, issuers: trustOf(checked.bundle.issuers, [checked.bundle]) };
}

/** The trust itself, unless it has expired since it was checked. @throws trust_expired */
export function recheckTrust(trust: CheckedTrust, now: number): CheckedTrust {
  const { expires_at } = trust.bundle;
  const expires = parseTimestamp(expires_at);
  if (expires === null || expires.seconds * 1_000 <= now) {
    throw new TallyError('trust_expired', `The trust bundle expired at ${expires_at}. Fetch a newer one.`);
  }
  return trust;
}
