import type { Work } from './work.ts';

interface Count {
  readonly counter: string;
  readonly used: number;
  /** Unix seconds. One that is there already keeps its own. */
  readonly expiresAt: number;
}

/** The counters, inside a transaction. */
export interface Counters {
  /** What each has counted, by its name; nobody else counts them until the transaction ends. */
  lock(expiries: ReadonlyMap<string, number>): Work<Map<string, number>>;
  set(counts: readonly Count[]): Work<void>;
}

/** Counts up a counter, which expires at `expiresAt` if this makes it. */
interface Use {
  readonly counter: string;
  readonly expiresAt: number;
}

/** What the counters of all uses have counted, locked; the first use of each says when it expires. */
export function* lockUsed(counters: Counters, uses: readonly Use[]): Work<Map<string, number>> {
  return uses.length === 0 ? new Map() : yield* counters.lock(expiriesOf(uses));
}

/** Stores the counts that are not what they were before. */
export function* saveUsed(
  counters: Counters,
  uses: readonly Use[],
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Work<void> {
  const counts = [...expiriesOf(uses)].flatMap(([counter, expiresAt]) => {
    const used = after.get(counter);
    return used === undefined || used === before.get(counter) ? [] : { counter, used, expiresAt };
  });
  if (counts.length > 0) yield* counters.set(counts);
}

function expiriesOf(uses: readonly Use[]): Map<string, number> {
  return new Map(uses.toReversed().map(({ counter, expiresAt }) => [counter, expiresAt]));
}
