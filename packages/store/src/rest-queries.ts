import type { ToldRest } from '@tallystick/inference';
import { sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, statement } from './statement.ts';

const MOST = 10_000;

/** The statements about resting models that all databases share. */
export function restQueries(db: Compiler, { now, skipLocked }: Dialect) {
  return {
    endRestsOf: statement((v: { process: string }) =>
      db.deleteFrom('model_rests').where('process', '=', v.process),
    ),
    forgetRests: statement(() =>
      raw(
        db,
        sql`
          delete from model_rests where (process, model) in (
            select process, model from model_rests where until <= ${now} limit ${sql.lit(MOST)} ${skipLocked})`,
      ),
    ),
    tellRest: statement((v: ToldRest & { process: string }) =>
      raw(
        db,
        sql`
          insert into model_rests (process, model, until, why)
          values (${v.process}, ${v.model}, ${now} + cast(${v.remainingMs} as double precision) / 1000, ${v.why})`,
      ),
    ),
    orderRest: statement((v: ToldRest & { process: string }) =>
      raw(
        db,
        sql`
          insert into model_rests (process, model, until, why)
          values (${v.process}, ${v.model}, ${now} + cast(${v.remainingMs} as double precision) / 1000, ${v.why})
          on conflict (process, model) do update set until = excluded.until, why = excluded.why`,
      ),
    ),
    restsOf: statement((v: { process: string }) =>
      db
        .selectFrom('model_rests')
        .select(['model', 'why', sql<number>`(until - ${now}) * 1000`.as('remainingMs')])
        .where('process', '=', v.process)
        .where('until', '>', now)
        .limit(sql.lit(MOST)),
    ),
    restsOfOthers: statement((v: { process: string }) =>
      db
        .selectFrom('model_rests')
        .select(['model', 'why', sql<number>`(until - ${now}) * 1000`.as('remainingMs')])
        .where('process', '<>', v.process)
        .where('until', '>', now)
        .limit(sql.lit(MOST)),
    ),
  };
}

export type RestQueries = ReturnType<typeof restQueries>;
