import type { Kysely } from 'kysely';
import type { Counters } from './counters.ts';
import type { Schema } from './schema.ts';
import { statement } from './statement.ts';
import { all, run } from './work.ts';

/** The transaction holds the only write lock there is, so that reading a counter keeps others from it. */
export function sqliteCounters(db: Kysely<Schema>): Counters {
  const usedOf = statement((v: { counter: string }) =>
    db.selectFrom('counters').select('used').where('counter', '=', v.counter),
  );
  const setUsed = statement((v: { counter: string; used: number; expiresAt: number }) =>
    db
      .insertInto('counters')
      .values({ counter: v.counter, used: v.used, expires_at: v.expiresAt })
      .onConflict((conflict) =>
        conflict.column('counter').doUpdateSet((row) => ({ used: row.ref('excluded.used') })),
      ),
  );
  return {
    *lock(expiries) {
      const used = new Map<string, number>();
      for (const counter of expiries.keys()) {
        const [row] = yield* all(usedOf, { counter });
        used.set(counter, row?.used ?? 0);
      }
      return used;
    },
    *set(counts) {
      for (const count of counts) yield* run(setUsed, count);
    },
  };
}
