import { Worker } from 'node:worker_threads';
import type { Excerpt, ExcerptTask } from './excerpt.ts';
import type { CompressionResult, CompressionTask } from './task.ts';
import type { Job, Outcome } from './worker.ts';

/** Calls are refused while this many wait. */
const MAX_WAITING = 256;
const IDLE_MS = 600_000;

/**
 * Runs compression in a thread of its own: reading the vocabulary takes most of a second and a million tokens take
 * another, in which nothing else would be answered. It starts with the first task, and ends after some time without
 * any.
 */
export class CompressionThread {
  readonly #idleMs: number;
  readonly #onDone: (seconds: number) => void;
  readonly #waiting = new Map<number, (result: Outcome['result']) => void>();
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #jobs = 0;

  /** @param onDone called with the seconds that a task took */
  constructor(onDone: (seconds: number) => void, idleMs = IDLE_MS) {
    this.#onDone = onDone;
    this.#idleMs = idleMs;
  }

  /** Tasks that wait or are under way. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Does a task in the thread. @throws Error where that failed */
  run(task: CompressionTask): Promise<CompressionResult>;
  run(task: ExcerptTask): Promise<Excerpt>;
  async run(task: Job['task']): Promise<CompressionResult | Excerpt> {
    if (this.#waiting.size >= MAX_WAITING) throw new Error('compression: too many prompts are waiting');
    const worker = this.#open();
    clearTimeout(this.#idle);
    worker.ref();
    const id = this.#jobs++;
    const result = await new Promise<Outcome['result']>((resolve) => {
      this.#waiting.set(id, resolve);
      worker.postMessage({ id, task } satisfies Job, []);
    });
    if ('failure' in result) throw new Error(`compression: ${result.failure}`);
    return result;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#lost(worker);
    await worker.terminate();
  }

  #open(): Worker {
    if (this.#worker !== null) return this.#worker;
    // The file is TypeScript in the source and JavaScript once built.
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const worker = new Worker(new URL(file, import.meta.url));
    worker.on('message', (outcome: Outcome) => this.#settle(outcome));
    const lost = (): void => this.#lost(worker);
    worker.on('error', lost);
    worker.on('exit', lost);
    this.#worker = worker;
    return worker;
  }

  #settle({ id, result, seconds }: Outcome): void {
    this.#onDone(seconds);
    this.#waiting.get(id)?.(result);
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
  }

  /** Fails the waiting tasks; the next task starts another thread. */
  #lost(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    clearTimeout(this.#idle);
    for (const resolveReady of this.#waiting.values()) resolveReady({ failure: 'the thread ended' });
    this.#waiting.clear();
  }
}
