import type { BaseUnits } from '../treasury-store.ts';

/** What a transaction moved into the treasury, less what it moved out. */
export interface Move {
  readonly txHash: string;
  readonly height: number;
  /** Number of its transfers to the treasury. */
  incoming: number;
  amount: BaseUnits;
}

/** A posting of a chain's account. */
export interface Posting {
  readonly id: string;
  /** Its line in the account's statement. */
  readonly line: number;
  /** Base units into the treasury. */
  readonly amount: BaseUnits;
}

/** A posting of what a transaction moved. */
export interface PartPosting extends Posting {
  /** The transfer to the treasury that it books, counted from 0; null where it books the whole transaction. */
  readonly ordinal: number | null;
}

/** A transaction, and those of its postings that were read. */
export interface Pair {
  readonly move: Move;
  readonly postings: PartPosting[];
}

/** Postings of a transaction that the chain has not shown. */
interface Unmatched {
  readonly txHash: string;
  readonly postings: PartPosting[];
}

/** What a matcher holds. */
export interface Held {
  readonly pairs: readonly Pair[];
  readonly unmatched: readonly Unmatched[];
}

/**
 * Matches what the chain moved with what the ledger posted, by transaction. Each transaction comes once, and its postings
 * come in the order of their lines; whichever of both comes first, the result is the same. A transaction is forgotten
 * once its postings make up what it moved, so that only what differs, and what one side has yet to show, is held. A
 * further posting of a forgotten transaction stays as one without a transfer.
 */
export class Matcher {
  /** Transactions whose postings do not make up what they moved, by hash. */
  readonly moves: Map<string, Pair>;
  /** Postings of transactions that the chain has not shown, by hash. */
  readonly postings: Map<string, PartPosting[]>;

  /** @param held what an earlier matcher held, which is then this one's */
  constructor({ pairs, unmatched }: Held = { pairs: [], unmatched: [] }) {
    this.moves = new Map(pairs.map((pair) => [pair.move.txHash, pair]));
    this.postings = new Map(unmatched.map(({ txHash, postings }) => [txHash, postings]));
  }

  held(): Held {
    const unmatched = [...this.postings].map(([txHash, postings]) => ({ txHash, postings }));
    return { pairs: [...this.moves.values()], unmatched };
  }

  addMove(move: Move): void {
    const { txHash } = move;
    const waiting = this.postings.get(txHash) ?? [];
    this.postings.delete(txHash);
    this.#keep({ move, postings: [] });
    for (const posting of waiting) this.addPosting(txHash, posting);
  }

  addPosting(txHash: string, posting: PartPosting): void {
    const pair = this.moves.get(txHash);
    const postings = pair?.postings ?? this.postings.get(txHash) ?? [];
    postings.push(posting);
    if (pair === undefined) this.postings.set(txHash, postings);
    else this.#keep(pair);
  }

  #keep(pair: Pair): void {
    const { booked, foreign } = bookedOf(pair);
    const agrees = foreign.length === 0 && sumOf(booked) === pair.move.amount;
    if (agrees) this.moves.delete(pair.move.txHash);
    else this.moves.set(pair.move.txHash, pair);
  }
}

/** Tells the postings of a transaction's transfers from those of transfers that it did not make. */
export function bookedOf({ move, postings }: Pair): { booked: PartPosting[]; foreign: PartPosting[] } {
  const isBooked = ({ ordinal }: PartPosting): boolean => ordinal === null || ordinal < move.incoming;
  return { booked: postings.filter(isBooked), foreign: postings.filter((one) => !isBooked(one)) };
}

export function sumOf(postings: readonly Posting[]): BaseUnits {
  return postings.reduce((sum, { amount }) => sum + amount, 0n);
}
