import { setImmediate } from 'node:timers/promises';
import { runEvery } from '@tallystick/kit';
import type { CallQueue } from './call-queue.ts';
import type { CallStore } from './call-store.ts';
import { rowOfReceipt } from './row-of-receipt.ts';

const EVERY_MS = 15_000;
/** Seconds of calls that are looked through at once: with SQLite nothing else runs meanwhile. */
const SLICE = 10;
const BATCH = 200;
/** Seconds for which the row of a settled call may still wait in a queue. */
export const PENDING = 30;

interface MissingDependencies {
  readonly store: CallStore;
  readonly queue: Pick<CallQueue, 'flush' | 'takeDropped' | 'waiting'>;
  /** Id of this process's lease. */
  readonly process: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds that a call may last; its id says when it began. */
  readonly maxCallMs: number;
}

/**
 * Makes the rows of settled calls again that were lost: those of a process that ended without writing them, and those
 * that did not fit in the queue. What only memory knew of them is null.
 */
export class MissingCalls {
  readonly #dependencies: MissingDependencies;
  /** Unix seconds up to which every call that this process settled has its row. */
  #listedUntil: number;
  /** Whether rows of this process were dropped that have not been made again. */
  #lacks = false;
  #stopping = false;

  constructor(dependencies: MissingDependencies) {
    this.#dependencies = dependencies;
    this.#listedUntil = this.#now();
  }

  /**
   * Looks now and every 15 seconds. The returned function stops that, and writes what waits. Calls that it had not looked
   * through by then are left for another process, or the next.
   */
  start(onFailure: (error: unknown) => void): () => Promise<void> {
    const { store, process } = this.#dependencies;
    const look = (): Promise<void> => this.look().catch(onFailure);
    // Before its first look ends, others know where to begin if this process dies.
    const marked = store.mark({ process, listedUntil: this.#listedUntil }).catch(onFailure);
    const first = marked.then(look);
    const stop = runEvery(EVERY_MS, look);
    return async () => {
      this.#stopping = true;
      await first;
      await stop();
      await look();
      if (!this.#lacks) await store.unmark(process).catch(onFailure);
    };
  }

  async look(): Promise<void> {
    const { store, queue, process } = this.#dependencies;
    const ended = (await store.abandoned()).filter((one) => one.process !== process);
    if (ended.length > 0 && (await this.#list(Math.min(...ended.map(({ listedUntil }) => listedUntil)))))
      for (const one of ended) await store.unmark(one.process);
    const now = this.#now();
    await queue.flush();
    if (queue.takeDropped() > 0) this.#lacks = true;
    if (this.#lacks) this.#lacks = !(await this.#list(this.#listedUntil));
    // Where the database did not take rows, they are older than the next mark would say.
    if (this.#lacks || queue.waiting > 0) return;
    this.#listedUntil = now - PENDING;
    await store.mark({ process, listedUntil: this.#listedUntil });
  }

  /** Lists the calls that were under way at a time, or began later, and have ended. Returns false if it was stopped before the end. */
  async #list(since: number): Promise<boolean> {
    const { store, maxCallMs } = this.#dependencies;
    const until = this.#now() + 1;
    for (let from = since - Math.ceil(maxCallMs / 1_000); from < until; from += SLICE) {
      let after = `r_env_${from}`;
      const before = `r_env_${Math.min(from + SLICE, until)}`;
      for (;;) {
        if (this.#stopping) return false;
        const missing = await store.unlisted({ after, before, limit: BATCH });
        await store.put(missing.flatMap(rowOfReceipt));
        await setImmediate();
        if (missing.length < BATCH) break;
        after = missing.at(-1)?.id ?? before;
      }
    }
    return true;
  }

  #now(): number {
    return Math.floor(this.#dependencies.clock() / 1_000);
  }
}
