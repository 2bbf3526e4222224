import { setImmediate } from 'node:timers/promises';
import { TallyError } from '@tallystick/core';

export interface GroupCommitOptions<Request, Outcome> {
  /** Runs one transaction over the batch and resolves, once it is durable, to one outcome per request. */
  commit(batch: readonly Request[]): Promise<readonly Outcome[]>;
  /** Whether an error was caused by the data of one request, which then fails alone. */
  isRowFault(error: unknown): boolean;
  /** The share of `maxBatch` that a request takes; 1 if it is left out. */
  weigh?(request: Request): number;
  /** The greatest weight of one transaction; a heavier request has one to itself. */
  maxBatch: number;
  /** The weight of waiting requests from which new ones are refused. It bounds memory and delay. */
  maxPending: number;
  /** Told how long each transaction took that was tried, in seconds. */
  onCommit?: ((seconds: number) => void) | undefined;
}

/** Turns of the event loop for which a request may wait for others. */
const MAX_TURNS = 16;

interface Pending<Request, Outcome> {
  readonly request: Request;
  readonly weight: number;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Puts requests that arrive together into one transaction, so that they share one flush to disk. The first request when
 * idle waits for the end of the event loop's turn; what arrives by then, or during a transaction, goes into the next
 * one. One transaction runs at a time, in the order of arrival.
 */
export class GroupCommit<Request, Outcome> {
  readonly #options: GroupCommitOptions<Request, Outcome>;
  #pending: Pending<Request, Outcome>[] = [];
  /** Total weight of the waiting requests. */
  #weight = 0;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: GroupCommitOptions<Request, Outcome>) {
    this.#options = options;
  }

  /** Weight of the requests that wait for their transaction to begin. */
  get waiting(): number {
    return this.#weight;
  }

  /** Resolves after the commit; rejects `unavailable` when closed or full, else with the batch's error. */
  submit(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new TallyError('unavailable', 'The store is closed.'));
      } else if (this.#weight >= this.#options.maxPending) {
        reject(new TallyError('unavailable', 'Too many writes are waiting. Try again shortly.'));
      } else {
        const weight = this.#options.weigh?.(request) ?? 1;
        this.#pending.push({ request, weight, resolve, reject });
        this.#weight += weight;
        this.#running ??= this.#run();
      }
    });
  }

  /** Refuses new requests, and resolves when the waiting ones are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      await this.#gather();
      await this.#settle(this.#take());
    }
    this.#running = undefined;
  }

  /**
   * Waits as long as each turn of the event loop brings more requests: callers that were answered together come back
   * together, but over several turns.
   */
  async #gather(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const before = this.#pending.length;
      await setImmediate();
      if (this.#pending.length === before || this.#weight >= this.#options.maxBatch) return;
    }
  }

  #take(): Pending<Request, Outcome>[] {
    let count = 0;
    let weight = 0;
    for (const entry of this.#pending) {
      if (count > 0 && weight + entry.weight > this.#options.maxBatch) break;
      count += 1;
      weight += entry.weight;
    }
    this.#weight -= weight;
    return this.#pending.splice(0, count);
  }

  async #settle(batch: readonly Pending<Request, Outcome>[]): Promise<void> {
    const began = performance.now();
    try {
      const outcomes = await this.#options
        .commit(batch.map((entry) => entry.request))
        .finally(() => this.#options.onCommit?.((performance.now() - began) / 1_000));
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome);
    } catch (error) {
      if (batch.length > 1 && this.#options.isRowFault(error)) {
        for (const entry of batch) await this.#settle([entry]);
      } else {
        for (const entry of batch) entry.reject(error);
      }
    }
  }
}
