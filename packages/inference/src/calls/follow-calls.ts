import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedCall } from './call-store.ts';

const EVERY_MS = 1_000;
/** Milliseconds after its end within which the row of a call is written, in any process. */
const LATE_MS = 5_000;

interface Following {
  /** Reads the newest calls that ended at or after a time in Unix milliseconds, newest first. */
  readonly read: (from: number) => Promise<readonly ListedCall[]>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

/** Yields once a second the calls that were listed since, oldest first; often none. */
export async function* followCalls({
  read,
  clock,
  signal,
  everyMs = EVERY_MS,
}: Following): AsyncGenerator<readonly ListedCall[], void, undefined> {
  let known = new Set<string>();
  const next = async (): Promise<ListedCall[]> => {
    const rows = await read(clock() - LATE_MS);
    const fresh = rows.filter(({ id }) => !known.has(id));
    known = new Set(rows.map(({ id }) => id));
    return fresh.reverse();
  };
  await next();
  while (!signal.aborted) {
    yield await next();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
