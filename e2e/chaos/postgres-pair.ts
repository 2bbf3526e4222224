import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { signalPostgres } from '../../packages/server/test/postgres.ts';
import { until } from '../log-client.ts';
import { type PostgresCluster, startCluster, startStandby } from '../system/postgres-cluster.ts';

/** A database on a primary and a standby, which has everything before it is acknowledged. One trouble at a time. */
export class PostgresPair {
  /** Of both servers, as `TALLY_DATABASE_URL` takes it. */
  readonly url: string;
  #primary: PostgresCluster;
  #standby: PostgresCluster;
  #before: Promise<unknown> = Promise.resolve();

  private constructor(database: string, primary: PostgresCluster, standby: PostgresCluster) {
    this.#primary = primary;
    this.#standby = standby;
    this.url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${database}`;
  }

  /** Starts both, with an empty database, below a folder. */
  static async start(folder: string, database: string): Promise<PostgresPair> {
    // Whoever is the primary waits for whatever standby there is.
    const settings = "synchronous_standby_names = '*'\n";
    const primary = await startCluster(folder, { settings });
    const pair = new PostgresPair(database, primary, await startStandby(primary, folder, 'standby'));
    await pair.#query(`create database ${database}`);
    return pair;
  }

  /** The primary does nothing for a time. */
  freeze(ms: number): Promise<void> {
    return this.#inTurn(async () => {
      const { data } = this.#primary;
      signalPostgres(data, 'SIGSTOP');
      await setTimeout(ms);
      signalPostgres(data, 'SIGCONT');
    });
  }

  /** Kills one of the two, and starts it again. Without the standby nothing is acknowledged. */
  restart(which: 'primary' | 'standby'): Promise<void> {
    return this.#inTurn(async () => {
      const cluster = which === 'primary' ? this.#primary : this.#standby;
      cluster.kill();
      // It takes a moment until what was killed is gone.
      await until(
        () =>
          cluster.start().then(
            () => true,
            () => false,
          ),
        (started) => started,
      );
      await this.#untilSynchronous();
    });
  }

  /** Kills the primary, has the standby take its place, and makes a new standby in the place of the primary. */
  failOver(): Promise<void> {
    return this.#inTurn(async () => {
      const { data, port } = this.#primary;
      this.#primary.kill();
      await this.#standby.promote();
      this.#primary = this.#standby;
      rmSync(data, { recursive: true, maxRetries: 5 });
      this.#standby = await startStandby(this.#primary, dirname(data), basename(data), port);
      await this.#untilSynchronous();
    });
  }

  async stop(): Promise<void> {
    await this.#before;
    await this.#standby.stop('immediate');
    await this.#primary.stop('immediate');
  }

  async #inTurn(trouble: () => Promise<void>): Promise<void> {
    const mine = this.#before.then(trouble);
    this.#before = mine.catch(() => undefined);
    return mine;
  }

  /**
   * Waits until the standby has what the primary has. After a crash the primary shows also what it had not acknowledged yet: if the
   * standby took its place then, it would be missing.
   */
  async #untilSynchronous(): Promise<void> {
    await until(
      () => this.#query('select sync_state, state from pg_stat_replication').catch(() => []),
      (rows) => rows.some((row) => String(row) === 'sync,streaming'),
    );
  }

  async #query(sql: string): Promise<unknown[][]> {
    const client = new Client({ connectionString: this.#primary.url('postgres') });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows;
    } finally {
      await client.end();
    }
  }
}
