import { TallyError } from '@tallystick/core';
import { type LogStorms, RollUp } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { ComputeMetrics } from '../metrics.ts';
import type { CallStore, NewCall } from './call-store.ts';
import { type CallSink, type EndedCall, newCallOf } from './ended-call.ts';

/** Calls that wait for their rows to be written. At 500 calls a second that is 20 seconds without a database. */
const MOST = 10_000;
/** Calls of one transaction: with SQLite nothing else runs meanwhile. */
const BATCH = 100;
const FAILED = 'the list of calls could not be written';
const FAILURES = { level: 'warn', burst: 3 } as const;

interface QueueDependencies {
  readonly store: Pick<CallStore, 'put'>;
  readonly metrics: Pick<ComputeMetrics, 'unlisted'>;
  readonly storms: LogStorms;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Keeps calls that have ended in memory until they are written, many at once. */
export class CallQueue implements CallSink {
  readonly #dependencies: QueueDependencies;
  readonly #waiting: RollUp<NewCall>;
  #dropped = 0;

  constructor(dependencies: QueueDependencies) {
    this.#dependencies = dependencies;
    this.#waiting = new RollUp({
      write: (calls) => this.#write(calls),
      dropped: (calls) => this.#drop(calls),
      mostWaiting: MOST,
      mostAtOnce: BATCH,
    });
  }

  push(call: EndedCall): void {
    // A waiting row is text: the garbage collector need not go through the objects that the text was made of.
    this.#waiting.add(newCallOf(call));
  }

  /** Writes what waits. Never rejects: while the database is away the calls wait on, and once the queue is full those that come are dropped. */
  async flush(): Promise<void> {
    const { storms, logger } = this.#dependencies;
    await this.#waiting.flush().catch((error: unknown) => {
      if (storms.admits(FAILED, FAILURES)) logger.warn({ err: error }, FAILED);
    });
  }

  /** Number of calls whose rows are not written yet. */
  get waiting(): number {
    return this.#waiting.waiting;
  }

  /** Number of calls that were dropped since it was last asked. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** A call that the database does not take, such as one with a zero byte in a text, is dropped alone. */
  async #write(calls: readonly NewCall[]): Promise<void> {
    const { store } = this.#dependencies;
    const refused = (error: unknown): void => {
      if (error instanceof TallyError && error.code === 'unavailable') throw error;
    };
    try {
      await store.put(calls);
    } catch (error) {
      refused(error);
      for (const call of calls) {
        await store.put([call]).catch((fault: unknown) => {
          refused(fault);
          this.#drop(1);
        });
      }
    }
  }

  #drop(calls: number): void {
    this.#dropped += calls;
    this.#dependencies.metrics.unlisted(calls);
  }
}
