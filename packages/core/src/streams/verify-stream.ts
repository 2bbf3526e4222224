import { fromHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { CLOCK_SKEW } from '../receipts/family.ts';
import { secondsOf } from '../time.ts';
import { ChainWalk } from './chain-walk.ts';
import { changeFault } from './change-fault.ts';
import { type StreamHead, streamHeadHash } from './head.ts';
import { addedFault, leftOut, type StreamFault } from './stream-fault.ts';

/** A receipt that the verifier has. */
export interface GivenReceipt {
  /** Its anchored hash, in hex. */
  readonly sha256: string;
  /** Unix seconds; null for a metering receipt, which does not say when it was issued. */
  readonly issuedAt: number | null;
}

/** What a stream is judged by. */
export interface StreamEvidence {
  /**
   * Heads of one stream whose signatures were verified, in their order. The hashes lead from the first to the last; where
   * `from` is 0 the chain begins at its start, which needs no signature.
   */
  readonly heads: readonly StreamHead[];
  /** Number of receipts before the first hash. */
  readonly from: number;
  /** Anchored hashes in the order of the stream, in hex. */
  readonly hashes: readonly string[];
  readonly given: Iterable<GivenReceipt>;
  /** Why the receipt of a hash need not be given; null where it must be. Absent: every one must be. */
  readonly excuse?: ((index: number) => string | null) | undefined;
  /** SHA-256 of the platform. */
  readonly digest?: Sha256 | undefined;
  /** The walk along the chain that has taken these hashes; made here when absent. */
  readonly walk?: ChainWalk | undefined;
}

export interface AbsentReceipt {
  readonly index: number;
  readonly sha256: string;
  readonly reason: string;
}

export interface StreamVerdict {
  readonly stream: string;
  /** Whether everything that the heads count between `first` and `last` is here, or is absent with a reason. */
  readonly complete: boolean;
  /** Places of the first and the last receipt that is judged, counted from 1; `last` is below `first` where there is none. */
  readonly first: number;
  readonly last: number;
  /** When the stream was opened, and the time of the last head. Nothing is shown about receipts outside of these times. */
  readonly since: string;
  readonly at: string;
  /** Number of the given receipts that the heads count. */
  readonly given: number;
  /** Number of the given receipts from before the first head or after the last one. */
  readonly uncounted: number;
  /** Receipts that are here as a hash alone, for a reason. */
  readonly absent: readonly AbsentReceipt[];
  readonly faults: readonly StreamFault[];
}

/**
 * Judges whether receipts are all that a stream's heads count: recomputes the chain from head to head, and compares its
 * hashes with the receipts. Every receipt at fault is named.
 * @throws stream_invalid without heads, with heads of several streams or issuers, or with malformed hashes
 */
export function judgeStream(evidence: StreamEvidence): StreamVerdict {
  const { heads, from, hashes } = evidence;
  const last = heads.at(-1);
  if (last === undefined)
    throw new TallyError('stream_invalid', 'Without a head, nothing is known of a stream.');
  const given = new Map([...evidence.given].map((receipt) => [receipt.sha256, receipt]));
  if (![...hashes, ...given.keys()].every((hash) => /^[0-9a-f]{64}$/.test(hash)))
    throw new TallyError('stream_invalid', 'A hash must be 64 lower-case hex characters.');
  const strangers = strangersOf(given, evidence);
  const faults = [
    ...headFaults(heads),
    ...chainFaults(evidence, [...strangers.keys()]),
    ...[...strangers.keys()].map(addedFault),
  ];
  const absent: AbsentReceipt[] = [];
  for (const [offset, sha256] of hashes.entries()) {
    if (given.has(sha256)) continue;
    const index = from + offset + 1;
    const reason = evidence.excuse?.(index) ?? null;
    if (reason === null) faults.push(leftOut(index, sha256));
    else absent.push({ index, sha256, reason });
  }
  const listed = new Set(hashes);
  const counted = [...given.keys()].filter((hash) => listed.has(hash)).length;
  return {
    stream: last.stream,
    complete: faults.length === 0,
    first: from + 1,
    last: last.count,
    since: last.since,
    at: last.at,
    given: counted,
    uncounted: given.size - strangers.size - counted,
    absent,
    faults: named(faults),
  };
}

/**
 * Given receipts that are not in the list although they were issued within its time. At the edges, a receipt that is issued
 * on one side may be stored on the other.
 */
function strangersOf(
  given: ReadonlyMap<string, GivenReceipt>,
  { heads, from, hashes }: StreamEvidence,
): Map<string, GivenReceipt> {
  const listed = new Set(hashes);
  const begins = from === 0 ? secondsOf(heads[0]?.since ?? '') : secondsOf(heads[0]?.at ?? '') + CLOCK_SKEW;
  const ends = secondsOf(heads.at(-1)?.at ?? '') - CLOCK_SKEW;
  const isWithin = ({ issuedAt }: GivenReceipt): boolean =>
    issuedAt !== null && issuedAt >= begins && issuedAt < ends;
  return new Map([...given].filter(([hash, receipt]) => !listed.has(hash) && isWithin(receipt)));
}

function* headFaults(heads: readonly StreamHead[]): Generator<StreamFault> {
  for (const [position, head] of heads.entries()) {
    const before = heads[position - 1];
    if (before === undefined) continue;
    if (head.stream !== before.stream || head.issuer_did !== before.issuer_did) {
      throw new TallyError('stream_invalid', 'The heads are not of one stream.');
    }
    const isNext =
      head.previous_sha256 === streamHeadHash(before) &&
      head.count >= before.count &&
      head.since === before.since &&
      secondsOf(head.at) >= secondsOf(before.at);
    if (isNext) continue;
    const detail = `The head at ${head.count} does not follow from the one at ${before.count}.`;
    yield { kind: 'heads', index: head.count, sha256: null, detail };
  }
}

/** The first place where the hashes do not lead to a head, with what was changed there if it is one change. */
function chainFaults(
  { heads, from, hashes, digest = sha256, walk = walked({ heads, from, hashes, digest }) }: StreamEvidence,
  strangers: readonly string[],
): StreamFault[] {
  const broken = walk.end();
  if (broken !== null) {
    const rest = hashes.slice(broken.begin.at - from).map((hash) => fromHex(hash, 32));
    return [changeFault({ ...broken, rest, strangers, digest })];
  }
  const end = heads.at(-1)?.count ?? from;
  return hashes.slice(end - from).map((hash, offset) => ({
    ...addedFault(hash),
    index: end + offset + 1,
  }));
}

function walked({ heads, from, hashes, digest }: Omit<StreamEvidence, 'given'>): ChainWalk {
  const walk = new ChainWalk(heads, from, digest);
  walk.take(hashes);
  return walk;
}

/** Each receipt once: a place that is known says more than none. */
function named(faults: readonly StreamFault[]): StreamFault[] {
  const placed = new Set(faults.flatMap(({ index, sha256 }) => (index === null ? [] : (sha256 ?? []))));
  return faults.filter(({ index, sha256 }) => index !== null || sha256 === null || !placed.has(sha256));
}
