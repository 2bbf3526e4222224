import { TallyError } from '../errors.ts';
import { sha256 } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { type Check, type Family, failed, unchecked } from '../receipts/family.ts';
import { isObject } from '../receipts/shape.ts';
import { formatTimestamp } from '../time.ts';
import { type AnchorFacts, type AnchorVerdict, checkAnchor } from './anchor-checks.ts';
import { parseAnchorRef } from './anchor-ref.ts';
import { readAnchoredResult } from './anchored.ts';

/**
 * Judges the anchor that was given with a receipt, or else the one in the receipt. The latter is not signed, so if it
 * can't be read, it proves nothing and contradicts nothing.
 */
export async function assessAnchor(
  family: Family,
  receipt: JsonObject,
  given: JsonValue | undefined,
  facts: Omit<AnchorFacts, 'anchoredHash'>,
): Promise<AnchorVerdict> {
  const anchor = given ?? receipt.anchor ?? null;
  const pending = pendingCheck(anchor ?? receipt, facts.now);
  if (pending !== null) return unproved(pending);
  if (anchor === null) return unproved(unchecked('anchor', 'No anchor proof was given.'));
  const anchoredHash = sha256(canonicalBytes(family.anchored(receipt)));
  return judgeResult(anchor, { ...facts, anchoredHash }, given !== undefined && given !== null);
}

/** Judges the anchored result that was given for a hash. A pending result proves nothing and contradicts nothing. */
export async function assessAnchorOf(given: JsonValue, facts: AnchorFacts): Promise<AnchorVerdict> {
  const pending = pendingCheck(given, facts.now);
  return pending === null ? judgeResult(given, facts, true) : unproved(pending);
}

async function judgeResult(anchor: JsonValue, facts: AnchorFacts, isGiven: boolean): Promise<AnchorVerdict> {
  try {
    return await checkAnchor(readAnchoredResult(anchor), facts);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    if (!isGiven) return unproved(unchecked('anchor', error.message));
    const detail = 'Not reached: the anchor is not an anchored result.';
    return unproved(
      failed('anchor', error.message),
      unchecked('anchor_checkpoint', detail),
      unchecked('anchor_transaction', detail),
    );
  }
}

const unproved = (...checks: readonly Check[]): AnchorVerdict => ({ checks });

/** Says what a pending result, or a receipt by its own reference, waits for; null if it waits for nothing. */
function pendingCheck(value: JsonValue, now: number): Check | null {
  if (!isObject(value) || typeof value.anchor_ref !== 'string') return null;
  const { anchor_ref } = value;
  const ref = orNull(() => parseAnchorRef(anchor_ref));
  if (ref?.kind !== 'pending') return null;
  const at = ref.batchId;
  return unchecked(
    'anchor',
    // A batch is named to the minute, and is past once that minute is.
    formatTimestamp(now) < at
      ? `Still pending: its root will be posted at ${at}.`
      : `Its root was due at ${at}. Fetch /v1/anchor/${anchor_ref}.`,
  );
}
