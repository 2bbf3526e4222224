import type { ApiKey, Counting } from '@tallystick/callers';
import { type ErrorCode, TallyError } from '@tallystick/core';
import { UNHEARD } from '@tallystick/kit';
import { isAnchored, placeReceipt, withMembers } from '@tallystick/receipts';

/** The API key of a call, and whether it requests an anchor. */
export interface KeyedCall {
  readonly key: ApiKey;
  readonly anchor: boolean;
}

export interface KeyedReceipt {
  readonly text: string;
  /** Null where the receipt is not anchored. */
  readonly anchorRef: string | null;
  /** Why a receipt that should be anchored is not; null if nothing went wrong. */
  readonly anchorFailed: ErrorCode | null;
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set(['quota_exceeded', 'anchor_unavailable', 'unavailable']);

/**
 * Applies the effects of an API key to its call's receipt (specification 2.10); only an anchor counts in the monthly
 * quota. The model has answered already, so the answer is given even if anchoring fails: the hash can be anchored
 * later.
 */
export async function keyedReceipt(
  context: Pick<Counting, 'log' | 'clock'>,
  keyed: KeyedCall | null,
  signed: string,
): Promise<KeyedReceipt> {
  if (keyed === null) return { text: signed, anchorRef: null, anchorFailed: null };
  const { key, anchor } = keyed;
  const { tier } = key;
  const without = (anchorFailed: ErrorCode | null): KeyedReceipt => ({
    text: withMembers(signed, { tier }),
    anchorRef: null,
    anchorFailed,
  });
  if (!isAnchored(key, anchor)) return without(null);
  try {
    // This answer does not report what is left of the month's quota.
    const anchorRef = await placeReceipt(context, UNHEARD, key, signed);
    return { text: withMembers(signed, { tier, anchor_ref: anchorRef }), anchorRef, anchorFailed: null };
  } catch (error) {
    if (!(error instanceof TallyError && REFUSALS.has(error.code))) throw error;
    return without(error.code);
  }
}
