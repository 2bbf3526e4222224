import { parentPort } from 'node:worker_threads';
import { compressTask } from './compress-task.ts';
import { type Excerpt, type ExcerptTask, excerptOf } from './excerpt.ts';
import type { CompressionResult, CompressionTask } from './task.ts';

export interface Job {
  readonly id: number;
  readonly task: CompressionTask | ExcerptTask;
}

/** Why a task failed, for the log. */
interface Failure {
  readonly failure: string;
}

export interface Outcome {
  readonly id: number;
  readonly result: CompressionResult | Excerpt | Failure;
  readonly seconds: number;
}

if (parentPort !== null) {
  const port = parentPort;
  port.on('message', ({ id, task }: Job) => {
    const from = performance.now();
    const result = attempt(task);
    port.postMessage({ id, result, seconds: (performance.now() - from) / 1000 } satisfies Outcome);
  });
}

function attempt(task: Job['task']): Outcome['result'] {
  try {
    return 'wanted' in task ? excerptOf(task) : compressTask(task);
  } catch (error) {
    return { failure: error instanceof Error ? error.message : 'unknown' };
  }
}
