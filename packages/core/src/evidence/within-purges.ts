import type { StreamVerdict } from '../streams/verify-stream.ts';
import type { EvidenceManifest } from './document.ts';

/** Refuses excuses for more deleted receipts than the records of purges count. */
export function withinPurges(verdict: StreamVerdict, { purged }: EvidenceManifest): StreamVerdict {
  const deleted = verdict.absent.filter(({ reason }) => reason === 'deleted');
  const recorded = purged.reduce((sum, { count }) => sum + count, 0);
  if (deleted.length <= recorded) return verdict;
  const faults = deleted.map(({ index, sha256 }) => ({
    kind: 'left_out' as const,
    index,
    sha256,
    detail: `The receipt with the hash ${sha256}, number ${index} of the stream, is not here, and the records of purges count only ${recorded}.`,
  }));
  const absent = verdict.absent.filter(({ reason }) => reason !== 'deleted');
  return { ...verdict, complete: false, absent, faults: [...verdict.faults, ...faults] };
}
