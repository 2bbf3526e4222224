import type { Operations, OperationsStore } from '@tallystick/kit';
import { all } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Checkpoints in which the newest cosignature of a witness is looked for. */
const CHECKPOINTS = 20;

/** An {@link OperationsStore} on a SQL database. */
export class SqlOperationsStore implements OperationsStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async look(limit: number): Promise<Operations> {
    const { queries, read } = this.#database;
    const [schema, processes, leases, postings, checkpoints, refunds, payouts] = await Promise.all([
      read(all(queries.schemaVersion, {})),
      read(all(queries.liveProcesses, {})),
      read(all(queries.logLease, {})),
      read(all(queries.openPostings, {})),
      read(all(queries.newestCheckpoints, { limit: CHECKPOINTS })),
      read(all(queries.oldestOpenPayouts, { kind: 'refund', limit })),
      read(all(queries.countOpenPayouts, {})),
    ]);
    const [lease] = leases;
    return {
      schemaVersion: schema[0]?.version ?? 0,
      processes: processes[0]?.processes ?? 0,
      logLease:
        lease === undefined || lease.holder === null || lease.seconds <= 0
          ? null
          : { holder: lease.holder, seconds: lease.seconds },
      postings: Object.fromEntries(postings.map((row) => [row.state, row.postings])),
      checkpoints,
      refunds,
      payouts: Object.fromEntries(payouts.map((row) => [row.kind, row.payouts])),
    };
  }
}
