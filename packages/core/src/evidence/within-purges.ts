import { CLOCK_SKEW } from '../receipts/family.ts';
import type { StreamHead } from '../streams/head.ts';
import type { StreamVerdict } from '../streams/verify-stream.ts';
import { secondsOf } from '../time.ts';
import type { EvidenceManifest } from './document.ts';

/**
 * Refuses excuses for more deleted receipts than the records of purges count. A record from before the first receipt of the hashes can
 * have left the room counts none of them.
 * @param first the first head of the bundle
 * @param kept seconds for which every receipt stays in the room at least
 */
export function withinPurges(
  verdict: StreamVerdict,
  { purged }: EvidenceManifest,
  first: StreamHead | undefined,
  kept: number,
): StreamVerdict {
  const deleted = verdict.absent.filter(({ reason }) => reason === 'deleted');
  const begin = verdict.first === 1 || first === undefined ? verdict.since : first.at;
  // Clocks of two processes may differ, so that a receipt is stored a little after its time of issue.
  const earliest = secondsOf(begin) + kept - 2 * CLOCK_SKEW;
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
