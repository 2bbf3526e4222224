import { TallyError } from '@tallystick/core';
import type { ChainPosting, LogStore, PostingPlace } from './log-store.ts';

/** A posting in a block that is final, so that its place no longer changes. */
export interface FinalPosting extends ChainPosting {
  readonly place: PostingPlace;
  readonly finalizedAt: number;
}

/** A posting and the signed note of the tree that it posts. */
interface NotedPosting {
  readonly posting: FinalPosting;
  readonly note: string;
}

/** Number of postings kept in memory. Leaves are mostly read batch by batch, so few are needed. */
const REMEMBERED = 16;

/** Finds the final postings that cover leaves, and remembers those found last. */
export class FinalPostings {
  readonly #store: Pick<LogStore, 'postingOf' | 'getCheckpoint'>;
  /** The remembered postings, each with the first leaf that is known to be under it. The one found last comes first. */
  #found: readonly (NotedPosting & { readonly first: number })[] = [];

  constructor(store: Pick<LogStore, 'postingOf' | 'getCheckpoint'>) {
    this.#store = store;
  }

  /** The posting that covers a leaf, or null while that is not final. @throws log_corrupted */
  async of(index: number): Promise<NotedPosting | null> {
    const known = this.#found.find(({ first, posting }) => first <= index && index < posting.size);
    if (known !== undefined) return known;
    const posting = asFinal(await this.#store.postingOf(index));
    if (posting === null) return null;
    const checkpoint = await this.#store.getCheckpoint(posting.size);
    if (checkpoint === null) {
      throw new TallyError('log_corrupted', `The posted checkpoint of ${posting.size} leaves is missing.`);
    }
    const found = { first: index, posting, note: checkpoint.note };
    const others = this.#found.filter((one) => one.posting.size !== posting.size);
    this.#found = [found, ...others].slice(0, REMEMBERED);
    return found;
  }
}

/** The posting as a final one; null if it is not final. */
export function asFinal(posting: ChainPosting | null): FinalPosting | null {
  if (posting?.state !== 'finalized') return null;
  const { place, finalizedAt } = posting;
  return place === null || finalizedAt === null ? null : { ...posting, place, finalizedAt };
}
