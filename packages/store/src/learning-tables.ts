import type { LearnedRow, RateableCall } from '@tallystick/inference';
import { LEARNED_SECONDS } from '@tallystick/inference/rows';
import { type RawBuilder, sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, statement } from './statement.ts';
import { pick, table } from './table.ts';

/** A call as it is stored: what is null where it has no rating is null in all four. */
interface RatedRow extends RateableCall {
  readonly score: number | null;
  readonly label: string | null;
  readonly comment: string | null;
  readonly ratedAt: number | null;
}

/** The statements about what is learned. All run inside a transaction. */
export interface LearningTables {
  /** Locks the models until the transaction ends, and returns those that are stored. */
  holdLearned(rows: readonly LearnedRow[]): Work<LearnedRow[]>;
  putLearned(rows: readonly LearnedRow[]): Work<unknown>;
  insertCalls(calls: readonly RateableCall[]): Work<unknown>;
  lockCalls(ids: readonly string[]): Work<RatedRow[]>;
  rateCalls(rows: readonly RatedRow[]): Work<unknown>;
}

const LEARNED = table<LearnedRow>('learned', ['model'], { model: 'text', state: 'text', at: 'integer' });

const CALLS = table<RatedRow>('rated_calls', ['receiptId'], {
  receiptId: 'text',
  account: 'text',
  model: 'text',
  arm: 'text',
  expiresAt: 'integer',
  score: 'integer',
  label: 'text',
  comment: 'text',
  ratedAt: 'integer',
});

const UNRATED = pick(CALLS, ['receiptId', 'account', 'model', 'arm', 'expiresAt']);

export function learningTables(bulk: Bulk): LearningTables {
  return {
    holdLearned: bulk.hold(LEARNED),
    putLearned: bulk.insertOr(LEARNED, sql`update set state = excluded.state, at = excluded.at`),
    insertCalls: bulk.insertOr(UNRATED, sql`nothing`),
    lockCalls: bulk.lock(CALLS),
    rateCalls: bulk.update(CALLS),
  };
}

export function learningQueries(db: Compiler, { skipLocked }: Pick<Dialect, 'skipLocked'>) {
  const purge = (name: 'learned' | 'rated_calls', key: string, old: (now: number) => RawBuilder<unknown>) =>
    statement((v: { now: number; limit: number }) =>
      raw(
        db,
        sql`
          delete from ${sql.table(name)} where ${sql.ref(key)} in (
            select ${sql.ref(key)} from ${sql.table(name)} where ${old(v.now)} limit ${v.limit} ${skipLocked})`,
      ),
    );
  return {
    learnedSince: statement((v: { since: number }) =>
      db.selectFrom('learned').select(['model', 'state', 'at']).where('at', '>=', v.since),
    ),
    ratingsOf: statement((v: { account: string; now: number }) =>
      db
        .selectFrom('rated_calls')
        .select([
          'model',
          sql<number>`count(*)`.as('count'),
          sql<number>`cast(sum(score) as bigint)`.as('score'),
        ])
        .where('account', '=', v.account)
        .where('score', 'is not', null)
        .where('expires_at', '>', v.now)
        .groupBy('model'),
    ),
    purgeLearned: purge('learned', 'model', (now) => sql`at <= ${now} - ${sql.lit(LEARNED_SECONDS)}`),
    purgeRatedCalls: purge('rated_calls', 'receipt_id', (now) => sql`expires_at <= ${now}`),
  };
}
