import type { RestStore, ToldRest } from '@tallystick/inference';
import { all, run, type Work } from './database-work.ts';
import type { RestQueries } from './rest-queries.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Stands for the operator among the processes, whose ids are UUIDs. */
const OPERATOR = 'operator';

/** A {@link RestStore} on a SQL database. */
export class SqlRestStore implements RestStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  tell(process: string, rests: readonly ToldRest[]): Promise<void> {
    return this.#database.transaction(() => tell(this.#database.queries, process, rests), 'relaxed');
  }

  toldByOthers(process: string): Promise<ToldRest[]> {
    const { queries, read } = this.#database;
    return read(all(queries.restsOfOthers, { process }));
  }

  order(rests: readonly ToldRest[]): Promise<void> {
    return this.#database.transaction(() => order(this.#database.queries, rests), 'relaxed');
  }

  ordered(): Promise<ToldRest[]> {
    const { queries, read } = this.#database;
    return read(all(queries.restsOf, { process: OPERATOR }));
  }
}

function* tell(queries: RestQueries, process: string, rests: readonly ToldRest[]): Work<void> {
  yield* run(queries.endRestsOf, { process });
  yield* run(queries.forgetRests, {});
  for (const rest of rests) yield* run(queries.tellRest, { process, ...rest });
}

/** In the order of the models, so that no two orders wait for each other. */
function* order(queries: RestQueries, rests: readonly ToldRest[]): Work<void> {
  yield* run(queries.forgetRests, {});
  const sorted = rests.toSorted((one, other) => (one.model < other.model ? -1 : 1));
  for (const rest of sorted) yield* run(queries.orderRest, { process: OPERATOR, ...rest });
}
