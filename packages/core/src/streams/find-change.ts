import { equalBytes } from '../encoding/bytes.ts';
import type { Sha256 } from '../hash.ts';
import { nextStreamHead } from './chain.ts';

/** Hashes between two heads up to which a single change is looked for: the search takes their third power. */
const SEARCHED = 64;

interface Segment {
  readonly begin: Uint8Array;
  readonly target: Uint8Array;
  /** Number of hashes that lead from `begin` to `target`. */
  readonly length: number;
  /** Hashes from `begin` on, which do not lead there. */
  readonly hashes: readonly Uint8Array[];
  /** Hashes of receipts that are in no list, and so may be the one that is missing. */
  readonly strangers: readonly Uint8Array[];
  readonly digest: Sha256;
}

export interface Change {
  readonly kind: 'left_out' | 'added' | 'moved';
  /** Place in the segment, from 0: of a moved hash, where it belongs. */
  readonly offset: number;
  readonly hash: Uint8Array;
}

/** Finds the one change after which the hashes of a segment lead to its head; null where there is none. */
export function findChange(segment: Segment): Change | null {
  const { begin, target, length, hashes, digest } = segment;
  // Where heads are out of order, a length is below 0.
  if (length < 0 || length > SEARCHED || hashes.length < length - 1) return null;
  for (const { change, list } of changes(segment)) {
    if (list.length !== length) continue;
    const head = list.reduce((one, hash) => nextStreamHead(one, hash, digest), begin);
    if (equalBytes(head, target)) return change;
  }
  return null;
}

function* changes({ length, hashes, strangers }: Segment): Generator<{ change: Change; list: Uint8Array[] }> {
  const same = hashes.slice(0, length);
  const longer = hashes.slice(0, length + 1);
  const shorter = hashes.slice(0, length - 1);
  for (const [offset, hash] of longer.entries()) {
    yield { change: { kind: 'added', offset, hash }, list: longer.toSpliced(offset, 1) };
  }
  for (const hash of strangers.slice(0, SEARCHED)) {
    for (let offset = 0; offset < length; offset++) {
      yield { change: { kind: 'left_out', offset, hash }, list: shorter.toSpliced(offset, 0, hash) };
    }
  }
  for (const [from, hash] of same.entries()) {
    const without = same.toSpliced(from, 1);
    for (let offset = 0; offset < length; offset++) {
      const other = same[offset];
      if (offset === from || other === undefined) continue;
      const change: Change = { kind: 'moved', offset, hash };
      yield { change, list: without.toSpliced(offset, 0, hash) };
      if (offset > from) yield { change, list: same.with(from, other).with(offset, hash) };
    }
  }
}
