import type { ConsumeOutcome } from '@tallystick/kit';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import { table } from './table.ts';

interface Count {
  readonly counter: string;
  readonly used: number;
  /** Unix seconds. A counter that exists keeps its own. */
  readonly expiresAt: number;
}

const COUNTERS = table<Count>('counters', ['counter'], {
  counter: 'text',
  used: 'integer',
  expiresAt: 'integer',
});

/** The counters, inside a transaction. */
export interface Counters {
  /** Locks the counters until the transaction ends, and returns their counts. */
  hold(counts: readonly Count[]): Work<readonly Count[]>;
  set(counts: readonly Count[]): Work<unknown>;
}

export function openCounters(bulk: Bulk): Counters {
  return { hold: bulk.hold(COUNTERS), set: bulk.insertOr(COUNTERS, sql`update set used = excluded.used`) };
}

/** See {@link Store.consume}. */
export interface Consume {
  readonly counter: string;
  readonly limit: number;
  readonly expiresAt: number;
}

/** Counts up for each request, in order. */
export function* consume(counters: Counters, requests: readonly Consume[]): Work<ConsumeOutcome[]> {
  const before = yield* lockUsed(counters, requests);
  const after = new Map(before);
  const outcomes = requests.map(({ counter, limit }) => {
    const used = after.get(counter) ?? 0;
    if (used >= limit) return { allowed: false, used };
    after.set(counter, used + 1);
    return { allowed: true, used: used + 1 };
  });
  yield* saveUsed(counters, requests, before, after);
  return outcomes;
}

/** One use of a counter, which expires at `expiresAt` if this use creates it. */
export interface Use {
  readonly counter: string;
  readonly expiresAt: number;
}

/** Locks the counters of all uses and returns their counts; the first use of each sets when it expires. */
export function* lockUsed(counters: Counters, uses: readonly Use[]): Work<Map<string, number>> {
  const counts = [...expiriesOf(uses)].map(([counter, expiresAt]) => ({ counter, used: 0, expiresAt }));
  return new Map((yield* counters.hold(counts)).map(({ counter, used }) => [counter, used]));
}

/** Stores the counts that have changed. */
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
  yield* counters.set(counts);
}

function expiriesOf(uses: readonly Use[]): Map<string, number> {
  return new Map(uses.toReversed().map(({ counter, expiresAt }) => [counter, expiresAt]));
}
