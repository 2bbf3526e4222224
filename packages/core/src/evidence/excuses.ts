import { CLOCK_SKEW } from '../receipts/family.ts';
import { KEPT } from '../receipts/profiles/terms.ts';
import type { StreamHead } from '../streams/head.ts';
import type { StreamEvidence, StreamVerdict } from '../streams/verify-stream.ts';
import { secondsOf } from '../time.ts';
import type { EvidenceManifest } from './document.ts';

/** Seconds for which every receipt stays in the room at least. */
const ALWAYS_KEPT = Math.min(...KEPT.map(({ retentionDays }) => retentionDays)) * 86_400;

/** Seconds after its time of issue within which a receipt is stored, by the clocks of any two processes. */
const STORED_WITHIN = 2 * CLOCK_SKEW;

/** What is known of a stream's order: its heads, the hashes after the first `from`, and when the given receipts were issued. */
type Order = Pick<StreamEvidence, 'heads' | 'from' | 'hashes' | 'given'>;

/**
 * Why a receipt need not be in a bundle, by its place in the stream. What was stored by a time may have been issued before the period, or
 * may have been deleted since; what was stored from its end on may have been issued after it. No others may be missing.
 */
export function excusesOf(
  { period, issued_at }: EvidenceManifest,
  { heads, from, hashes, given }: Order,
): (index: number) => string | null {
  const issued = new Map([...given].map(({ sha256, issuedAt }) => [sha256, issuedAt]));
  const times = hashes.map((hash) => issued.get(hash) ?? 0);
  const before = countAt(secondsOf(period.from) + CLOCK_SKEW, heads, from, times);
  const deleted = countAt(secondsOf(issued_at) - ALWAYS_KEPT, heads, from, times);
  const within = countBefore(secondsOf(period.to), heads, from, times);
  return (index) => {
    if (index <= before) return 'before the period';
    if (index > within) return 'after the period';
    return index <= deleted ? 'deleted' : null;
  };
}

/**
 * How many receipts may have been stored by a time (Unix seconds): those that the first head from then on counts. That head may be
 * a day younger, so no receipt counts that follows one which was issued after that time.
 * @param times when each receipt after the first `from` was issued; 0 where that is not known
 */
function countAt(
  second: number,
  heads: readonly StreamHead[],
  from: number,
  times: readonly number[],
): number {
  const [first] = heads;
  if (first === undefined || secondsOf(first.since) >= second) return 0;
  const next = heads.find(({ at }) => secondsOf(at) >= second);
  const counted = (next ?? heads.at(-1))?.count ?? 0;
  const later = times.findIndex((time) => time >= second + STORED_WITHIN);
  return later < 0 ? counted : Math.min(counted, from + later);
}

/**
 * How many receipts can't have been issued from a time on (Unix seconds): those that the last head before it counts, or that come before
 * one which was issued well before it. All of them where no head is from then on.
 * @param times as for `countAt`
 */
function countBefore(
  second: number,
  heads: readonly StreamHead[],
  from: number,
  times: readonly number[],
): number {
  if (!heads.some(({ at }) => secondsOf(at) >= second)) return Number.POSITIVE_INFINITY;
  const counted = heads.findLast(({ at }) => secondsOf(at) < second - CLOCK_SKEW)?.count ?? 0;
  const earlier = times.findLastIndex((time) => time > 0 && time < second - STORED_WITHIN - CLOCK_SKEW);
  return Math.max(counted, from + earlier + 1);
}

/**
 * Refuses excuses for more deleted receipts than the records of purges count. A record from before the first receipt of the hashes can
 * have left the room counts none of them.
 * @param first the first head of the bundle
 */
export function withinPurges(
  verdict: StreamVerdict,
  { purged }: EvidenceManifest,
  first: StreamHead | undefined,
): StreamVerdict {
  const deleted = verdict.absent.filter(({ reason }) => reason === 'deleted');
  const begin = verdict.first === 1 || first === undefined ? verdict.since : first.at;
  // Clocks of two processes may differ, so that a receipt is stored a little after its time of issue.
  const earliest = secondsOf(begin) + ALWAYS_KEPT - STORED_WITHIN;
  const recorded = purged
    .filter(({ purged_at }) => secondsOf(purged_at) >= earliest)
    .reduce((sum, { count }) => sum + count, 0);
  if (deleted.length <= recorded) return verdict;
  const faults = deleted.map(({ index, sha256 }) => ({
    kind: 'left_out' as const,
    index,
    sha256,
    detail: `The receipt with the hash ${sha256}, number ${index} of the stream, is not here, and the records of purges count only ${recorded} that may be of these.`,
  }));
  const absent = verdict.absent.filter(({ reason }) => reason !== 'deleted');
  return { ...verdict, complete: false, absent, faults: [...verdict.faults, ...faults] };
}
