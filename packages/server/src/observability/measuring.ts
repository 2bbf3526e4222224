import { setTimeout } from 'node:timers/promises';

/** Milliseconds that a reader of the metrics waits for the database. */
const WAIT_MS = 1_000;

/**
 * Wraps the function that updates the metrics, so that a reader waits for it at most a second, and not at all while an
 * earlier update has hung for longer than that; then the last known values are shown.
 * @param measure rejects when it fails, which leaves the values as they are
 * @param onDone called after each successful update
 */
export function boundedMeasure(measure: () => Promise<void>, onDone: () => void): () => Promise<void> {
  let running: { readonly since: number; readonly ended: Promise<void> } | null = null;
  return async () => {
    running ??= {
      since: performance.now(),
      ended: measure()
        .then(onDone, () => undefined)
        .finally(() => {
          running = null;
        }),
    };
    const left = WAIT_MS - (performance.now() - running.since);
    if (left > 0) await Promise.race([running.ended, setTimeout(left, undefined, { ref: false })]);
  };
}
