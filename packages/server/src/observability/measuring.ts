import { setTimeout } from 'node:timers/promises';

/** Milliseconds that a reader of the metrics waits for the database. */
const WAIT_MS = 1_000;

/**
 * Wraps what brings the metrics up to date, so that a reader waits for it no longer than a second, and not at all while
 * an earlier reader's look hangs for longer than that: then the last known values are what there is.
 * @param look rejects when it fails, which leaves the values as they are
 * @param onDone is called after each look that succeeded
 */
export function boundedLook(look: () => Promise<void>, onDone: () => void): () => Promise<void> {
  let running: { readonly since: number; readonly ended: Promise<void> } | null = null;
  return async () => {
    running ??= {
      since: performance.now(),
      ended: look()
        .then(onDone, () => undefined)
        .finally(() => {
          running = null;
        }),
    };
    const left = WAIT_MS - (performance.now() - running.since);
    if (left > 0) await Promise.race([running.ended, setTimeout(left, undefined, { ref: false })]);
  };
}
