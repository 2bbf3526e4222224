import { type Kysely, sql } from 'kysely';
import type { Counters } from './counters.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run } from './work.ts';

/** Counters are locked in the order of their names, so that two processes never wait for each other. */
export function postgresCounters(db: Kysely<Schema>): Counters {
  const { lockCounters, setUsed } = counterStatements(db);
  return {
    *lock(expiries) {
      const rows = yield* all(lockCounters, {
        counters: [...expiries.keys()],
        expiries: [...expiries.values()],
      });
      return new Map(rows.map((row) => [row.counter, row.used]));
    },
    *set(counts) {
      yield* run(setUsed, {
        counters: counts.map(({ counter }) => counter),
        used: counts.map(({ used }) => used),
      });
    },
  };
}

function counterStatements(db: Kysely<Schema>) {
  return {
    // The update changes nothing: it locks a counter that is there already, and so returns it.
    lockCounters: statement((v: { counters: string[]; expiries: number[] }) =>
      raw(
        db,
        sql<{ counter: string; used: number }>`
          insert into counters (counter, used, expires_at)
          select r.counter, 0, r.expires_at
          from unnest(${v.counters}::text[], ${v.expiries}::bigint[]) as r (counter, expires_at)
          order by r.counter collate "C"
          on conflict (counter) do update set used = counters.used
          returning counter, used`,
      ),
    ),
    setUsed: statement((v: { counters: string[]; used: number[] }) =>
      raw(
        db,
        sql`
          update counters set used = r.used
          from unnest(${v.counters}::text[], ${v.used}::bigint[]) as r (counter, used)
          where counters.counter = r.counter`,
      ),
    ),
  };
}
