import type { Fenced, LogStore } from './log-store.ts';

/** Thrown when the lease has passed to another process, which continues from what is stored. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

type Bound<K extends keyof LogStore> = LogStore[K] extends (
  epoch: number,
  ...rest: infer Rest
) => Promise<infer Outcome>
  ? (...rest: Rest) => Promise<Exclude<Outcome, Fenced>>
  : never;

/** The writes of postings under one epoch; each throws `FencedError` instead of answering `fenced`. */
export interface PostingWrites {
  readonly epoch: number;
  readonly closeBatch: Bound<'closeBatch'>;
  readonly queuePosting: Bound<'queuePosting'>;
  readonly addAttempt: Bound<'addAttempt'>;
  readonly movePosting: Bound<'movePosting'>;
}

export function postingWrites(log: LogStore, epoch: number): PostingWrites {
  return {
    epoch,
    closeBatch: async (...rest) => unfenced(await log.closeBatch(epoch, ...rest)),
    queuePosting: async (...rest) => unfenced(await log.queuePosting(epoch, ...rest)),
    addAttempt: async (...rest) => unfenced(await log.addAttempt(epoch, ...rest)),
    movePosting: async (...rest) => unfenced(await log.movePosting(epoch, ...rest)),
  };
}

function unfenced<T>(outcome: T | Fenced): Exclude<T, Fenced> {
  if (outcome === 'fenced') throw new FencedError();
  return outcome as Exclude<T, Fenced>;
}
