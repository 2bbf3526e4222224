import type { AnchoredResult } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';
import { canonicalSha256, type HashOrReceipt } from './hash.ts';

/** A hash that waits for its root to be posted (specification 2.9). */
export interface PendingAnchor {
  readonly anchor_ref: string;
  /** Scheduled time of the posting, to the minute (UTC). */
  readonly batch_id: string;
  /** Seconds until that time; 0 from then on until the posting is final. */
  readonly eta_seconds: number;
}

/** A pending or an anchored result. A pending one has a `batch_id`. */
export type Anchor = PendingAnchor | AnchoredResult;

/**
 * Has a hash, or that of a receipt, anchored. Nothing else of the receipt is sent. Sending the same hash again returns the
 * same place in the log and costs nothing, so a retry is harmless. Needs an API key.
 * @throws not_a_receipt, json_*, invalid_base64url; ServiceError: `quota_exceeded` has in `retryAfter` the seconds
 * until the next month, api_key_*, anchor_unavailable
 */
export async function anchor(
  transport: Transport,
  hashOrReceipt: HashOrReceipt,
  call?: CallOptions,
): Promise<Anchor> {
  const members = { canonical_sha256: canonicalSha256(hashOrReceipt) };
  const { json } = await transport.post<Anchor>('/v1/anchor', members, call);
  return json;
}
