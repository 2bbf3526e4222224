import type { LearnedRow, LearningStore, RateableCall, RatedCall, Rating } from '@tallystick/inference';
import { all, run, type Work } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';

const PURGE_LIMIT = 1_000;

/** A {@link LearningStore} on a SQL database. */
export class SqlLearningStore implements LearningStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  update(
    models: readonly string[],
    now: number,
    merged: (model: string, state: string | null) => string,
  ): Promise<void> {
    return this.#database.transaction(() => update(this.#database, models, now, merged), 'relaxed');
  }

  changed(since: number): Promise<LearnedRow[]> {
    return this.#database.read(all(this.#database.queries.learnedSince, { since }));
  }

  async allowRatings(calls: readonly RateableCall[]): Promise<void> {
    await this.#database.transaction(() => this.#database.learningTables.insertCalls(calls), 'relaxed');
  }

  rate(receiptId: string, account: string, rating: Rating, now: number): Promise<RatedCall | null> {
    return this.#database.transaction(() => rate(this.#database, { receiptId, account, rating, now }));
  }

  ratings(account: string, now: number): ReturnType<LearningStore['ratings']> {
    return this.#database.read(all(this.#database.queries.ratingsOf, { account, now }));
  }

  purge(now: number, limit = PURGE_LIMIT): Promise<number> {
    const { purgeLearned, purgeRatedCalls } = this.#database.queries;
    function* purge(): Work<number> {
      const values = { now, limit };
      return (yield* run(purgeLearned, values)) + (yield* run(purgeRatedCalls, values));
    }
    return this.#database.transaction(() => purge(), 'relaxed');
  }
}

/** What is not stored yet has this state while the transaction holds its row. */
const NOTHING = '';

function* update(
  { learningTables: tables }: SqlDatabase,
  models: readonly string[],
  at: number,
  merged: (model: string, state: string | null) => string,
): Work<void> {
  const held = yield* tables.holdLearned(models.map((model) => ({ model, state: NOTHING, at })));
  const states = new Map(held.map(({ model, state }) => [model, state]));
  yield* tables.putLearned(
    models.map((model) => ({ model, state: merged(model, states.get(model) || null), at })),
  );
}

function* rate(
  { learningTables: tables }: SqlDatabase,
  given: {
    readonly receiptId: string;
    readonly account: string;
    readonly rating: Rating;
    readonly now: number;
  },
): Work<RatedCall | null> {
  const [found] = yield* tables.lockCalls([given.receiptId]);
  if (found === undefined || found.account !== given.account || found.expiresAt <= given.now) return null;
  const { score, label, comment, ratedAt, ...call } = found;
  if (score !== null && ratedAt !== null)
    return { ...call, rating: { score, label, comment }, ratedAt, isNew: false };
  yield* tables.rateCalls([{ ...call, ...given.rating, ratedAt: given.now }]);
  return { ...call, rating: given.rating, ratedAt: given.now, isNew: true };
}
