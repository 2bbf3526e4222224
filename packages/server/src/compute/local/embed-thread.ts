import { Worker } from 'node:worker_threads';
import { ProviderError } from '../providers/provider.ts';
import type { EmbedOutcome, EmbedTask } from './embed-worker.ts';

/** Calls that wait beyond these are turned away. */
const mostWaiting = 256;
const defaultIdleMs = 600_000;

type Settle = (outcome: EmbedOutcome) => void;

/**
 * The embedding model in a thread of its own, so that it holds nothing up here. The thread starts with the first
 * task and ends, and gives its memory back, when none has come for a while.
 */
export class EmbedThread {
  readonly #idleMs: number;
  readonly #waiting = new Map<number, Settle>();
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #tasks = 0;
  #closed = false;

  constructor(idleMs = defaultIdleMs) {
    this.#idleMs = idleMs;
  }

  get running(): boolean {
    return this.#worker !== null;
  }

  /** @throws ProviderError overloaded or server */
  async run(task: Omit<EmbedTask, 'id'>): Promise<Exclude<EmbedOutcome, { kind: 'failed' }>> {
    if (this.#closed) throw new ProviderError('server', 'local has been closed');
    if (this.#waiting.size >= mostWaiting)
      throw new ProviderError('overloaded', 'local has too many embeddings waiting', { status: 503 });
    const worker = this.#open();
    clearTimeout(this.#idle);
    worker.ref();
    const id = this.#tasks++;
    const outcome = await new Promise<EmbedOutcome>((resolve) => {
      this.#waiting.set(id, resolve);
      worker.postMessage({ id, ...task }, []);
    });
    if (outcome.kind === 'failed') throw new ProviderError('server', 'local could not make an embedding');
    return outcome;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  #open(): Worker {
    if (this.#worker !== null) return this.#worker;
    // From source the file is TypeScript, built it is JavaScript.
    const file = import.meta.url.endsWith('.ts') ? './embed-worker.ts' : './embed-worker.js';
    const worker = new Worker(new URL(file, import.meta.url));
    worker.on('message', (outcome: EmbedOutcome) => this.#settle(outcome));
    const lost = (): void => this.#lost(worker);
    worker.on('error', lost);
    worker.on('exit', lost);
    this.#worker = worker;
    return worker;
  }

  #settle(outcome: EmbedOutcome): void {
    this.#waiting.get(outcome.id)?.(outcome);
    this.#waiting.delete(outcome.id);
    if (this.#waiting.size > 0) return;
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.#end(), this.#idleMs).unref();
  }

  /** What waited for it fails; the next task starts another. */
  #lost(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    clearTimeout(this.#idle);
    for (const [id, settle] of this.#waiting) settle({ id, kind: 'failed' });
    this.#waiting.clear();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#lost(worker);
    await worker.terminate();
  }
}
