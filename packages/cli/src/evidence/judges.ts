import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type BundlePart, EvidenceFault, type JudgedPart, type PartJudges } from '@tallystick/core';
import type { JudgeStart, PartOutcome } from './judge-worker.ts';

/** A thread takes a tenth of a second to start, in which one thread judges about as many parts. */
const LEAST_PARTS = 4;
const MOST_THREADS = 8;
/** With this limit two threads and the main one take 265 MB for 20,000 receipts; without it they take 450, and are no faster. */
const LIMITS = { maxYoungGenerationSizeMb: 24 };
/** Parts for each thread that are read or judged, or wait for their turn to be counted. */
const PARTS_A_THREAD = 3;

interface Job {
  readonly part: BundlePart;
  readonly settle: (outcome: PartOutcome) => void;
}

/** Judges the parts of a bundle on all cores, each part by one thread. */
export class ThreadedJudges implements PartJudges {
  readonly atOnce: number;
  readonly #workers: readonly Worker[];
  readonly #idle: Worker[];
  readonly #jobs: Job[] = [];
  readonly #running = new Map<Worker, Job>();

  private constructor(start: JudgeStart, threads: number) {
    this.atOnce = threads * PARTS_A_THREAD;
    // The file is TypeScript in the source and JavaScript once built.
    const file = import.meta.url.endsWith('.ts') ? './judge-worker.ts' : './judge-worker.js';
    this.#workers = Array.from({ length: threads }, () => {
      const worker = new Worker(new URL(file, import.meta.url), {
        workerData: start,
        resourceLimits: LIMITS,
      });
      worker.on('message', (outcome: PartOutcome) => this.#end(worker, outcome));
      worker.on('error', (error) => this.#end(worker, { failure: String(error) }));
      return worker;
    });
    this.#idle = [...this.#workers];
  }

  /** Null where one thread is as fast. @param parts how many the bundle has */
  static start(start: JudgeStart, parts: number): ThreadedJudges | null {
    const threads = Math.min(availableParallelism(), MOST_THREADS);
    return threads > 1 && parts >= LEAST_PARTS ? new ThreadedJudges(start, threads) : null;
  }

  async judge(part: BundlePart, progress: Parameters<PartJudges['judge']>[1]): Promise<JudgedPart> {
    const outcome = await new Promise<PartOutcome>((settle) => {
      this.#jobs.push({ part, settle });
      this.#next();
    });
    if ('failure' in outcome) throw new Error(outcome.failure);
    if ('reason' in outcome) throw new EvidenceFault(outcome.reason, outcome.message, outcome.path);
    const bytes = part.files.reduce((sum, { file }) => sum + file.size, 0);
    await progress({ bytes, receipts: 0 });
    return outcome.judged;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #next(): void {
    const [worker, job] = [this.#idle.at(-1), this.#jobs[0]];
    if (worker === undefined || job === undefined) return;
    this.#idle.pop();
    this.#jobs.shift();
    this.#running.set(worker, job);
    worker.postMessage(job.part, []);
  }

  #end(worker: Worker, outcome: PartOutcome): void {
    this.#running.get(worker)?.settle(outcome);
    this.#running.delete(worker);
    this.#idle.push(worker);
    this.#next();
  }
}
