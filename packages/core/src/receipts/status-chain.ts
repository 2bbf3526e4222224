import { parseTimestamp } from '../time.ts';
import { type StatusDocument, statusDigest } from './status.ts';

/** The newest status document that a reader has seen of a service. */
export interface SeenStatus {
  readonly sequence: number;
  /** `statusDigest` of the document. */
  readonly sha256: string;
}

/**
 * What a valid status document is beside the newest one seen:
 * `current`; `stale` once its `valid_until` is over, so that nobody knows how the service is now; `rolled_back`
 * where it
 * is older than what was seen; `forked` where it is another one of the same sequence, or the next one but of another.
 */
export type StatusStanding = 'current' | 'stale' | 'rolled_back' | 'forked';

/**
 * Holds a document that is valid and trusted against the newest one seen.
 * @param seen null at the first look
 * @param now Unix milliseconds
 * @returns its standing, and what is the newest seen from now on: a fork or a rollback leaves it as it is
 */
export function followStatus(
  document: StatusDocument,
  seen: SeenStatus | null,
  now: number,
): { readonly standing: StatusStanding; readonly seen: SeenStatus } {
  const found = { sequence: document.sequence, sha256: statusDigest(document) };
  if (seen !== null && forks(document, found, seen)) return { standing: 'forked', seen };
  if (seen !== null && found.sequence < seen.sequence) return { standing: 'rolled_back', seen };
  return { standing: isStale(document, now) ? 'stale' : 'current', seen: found };
}

function forks({ previous_sha256 }: StatusDocument, found: SeenStatus, seen: SeenStatus): boolean {
  if (found.sequence === seen.sequence) return found.sha256 !== seen.sha256;
  return found.sequence === seen.sequence + 1 && previous_sha256 !== seen.sha256;
}

function isStale({ valid_until }: StatusDocument, now: number): boolean {
  const until = parseTimestamp(valid_until);
  return until === null || now >= until.seconds * 1000 + until.nanos / 1e6;
}
