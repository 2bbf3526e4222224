import type { ApiKey, Counting } from '@tallystick/callers';
import { type ErrorCode, TallyError } from '@tallystick/core';
import { UNHEARD } from '@tallystick/kit';
import { isAnchored, placeReceipt, withMembers } from '@tallystick/receipts';

/** The key that a call comes with, and whether it asks for an anchor. */
export interface KeyedCall {
  readonly key: ApiKey;
  readonly anchor: boolean;
}

export interface KeyedReceipt {
  /** JCS text. */
  readonly text: string;
  /** Null where the receipt is not anchored. */
  readonly anchorRef: string | null;
  /** Why a receipt that is to be anchored is not; null where nothing went wrong. */
  readonly anchorFailed: ErrorCode | null;
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set(['quota_exceeded', 'anchor_unavailable', 'unavailable']);

/**
 * What a key does for its call's receipt (specification 2.10), of which only an anchor counts in its month. The model
 * has answered by now, so a receipt that can't be anchored is no reason to keep the answer back: its hash can be
 * anchored later.
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
    // What is left of the month's quota is not for this answer to tell.
    const anchorRef = await placeReceipt(context, UNHEARD, key, signed);
    return { text: withMembers(signed, { tier, anchor_ref: anchorRef }), anchorRef, anchorFailed: null };
  } catch (error) {
    if (!(error instanceof TallyError && REFUSALS.has(error.code))) throw error;
    return without(error.code);
  }
}
