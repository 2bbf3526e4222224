import { parseTimestamp } from '../time.ts';
import { type StatusDocument, statusDigest } from './status.ts';

/** The newest status document that a reader has seen of a service. */
export interface SeenStatus {
  readonly sequence: number;
  /** `statusDigest` of the document. */
  readonly sha256: string;
}

/**
 * Standing of a valid status document against the newest one seen:
 * `current`; `stale` after its `valid_until`, when the state of the service is unknown; `rolled_back` when it is older
 * than the newest one seen; `forked` when it has the same sequence but is another document, or is the next one but names
 * another predecessor.
 */
export type StatusStanding = 'current' | 'stale' | 'rolled_back' | 'forked';

/**
 * Compares a document that is valid and trusted with the newest one seen.
 * @param seen null if none was seen yet
 * @param now Unix milliseconds
 * @returns its standing, and the newest one seen from now on, which a fork or a rollback does not change
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
