import { setTimeout } from 'node:timers/promises';
import { DatabaseError, Pool, type PoolClient, type QueryResult, type TypeOverrides } from 'pg';
import { publicError, sqlState } from './postgres-errors.ts';
import type { PostgresLimits } from './postgres-limits.ts';
import type { PostgresServers } from './postgres-url.ts';

export interface PoolOptions {
  readonly servers: PostgresServers;
  readonly limits: PostgresLimits;
  readonly types: TypeOverrides;
}

/**
 * Runs one statement. Rejects with the driver's error.
 * @param waitMs how long to wait for its answer; by default the pool's `queryMs`
 */
export type RunStatement = (sql: string, values: unknown[], waitMs?: number) => Promise<QueryResult>;

/** Milliseconds that queries under way may still take when the pool is closed. */
const CLOSE_MS = 2_000;

/** Statements are sent without waiting for the answers of those before. The driver's types do not show it. */
const PIPELINE: object = { pipeline: true };

/** `read_only_sql_transaction`: the server was a primary, and is none any more. */
const READ_ONLY = '25006';

/**
 * The connections to one PostgreSQL server. Nothing waits for one without end. Where the URL names several servers, all
 * connections go to the same one; when none is open and no new one can be had, the next server is tried. A connection that fails below SQL, or is
 * silent for too long, is dropped, and so are all others that were open by then: what silently kills one (a failover, a
 * firewall) kills the others too, and each of them would cost its next user the same wait.
 */
export class PostgresPool {
  readonly #options: PoolOptions;
  #pool: Pool;
  /** Index of the server that the pool connects to. */
  #server = 0;
  /** Every connection that is open, with its pool, which may have been dropped. */
  readonly #open = new Map<PoolClient, Pool>();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#pool = this.#openPool();
  }

  /**
   * Runs some work on a connection of its own. Work that fails leaves no transaction open.
   * @throws what `work` throws; unavailable where no connection is available
   */
  async use<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const { pool, client } = await this.#connect();
    let dead = false;
    try {
      return await work((text, values, waitMs) =>
        client.query({ text, values, ...waiting(waitMs) }).catch((error: unknown) => {
          // Every error that the server itself reports is a DatabaseError.
          dead ||= !(error instanceof DatabaseError) || (this.#hasOthers() && sqlState(error) === READ_ONLY);
          throw error;
        }),
      );
    } catch (error) {
      dead ||= !(await rollBack(client));
      throw error;
    } finally {
      client.release(dead);
      if (dead) this.#giveUp(pool);
    }
  }

  /** Closes all connections; after two seconds also those that do not answer. */
  async close(): Promise<void> {
    const ended = this.#pool.end();
    await Promise.race([ended, setTimeout(CLOSE_MS, undefined, { ref: false })]);
    for (const client of this.#open.keys()) destroy(client);
    await ended;
  }

  /** A connection to the server that is in use, or to the next one that can be used. Each is tried once. */
  async #connect(): Promise<{ pool: Pool; client: PoolClient }> {
    for (let tries = 1; ; tries++) {
      const pool = this.#pool;
      try {
        return { pool, client: await pool.connect() };
      } catch (error) {
        // A pool with open connections reaches its server: they are all in use.
        const isReached = [...this.#open.values()].includes(pool);
        if (isReached || tries >= this.#options.servers.urls.length) throw publicError(error);
        this.#useNext(pool);
      }
    }
  }

  #hasOthers(): boolean {
    return this.#options.servers.urls.length > 1;
  }

  #useNext(pool: Pool): void {
    if (pool !== this.#pool || pool.ending) return;
    this.#server = (this.#server + 1) % this.#options.servers.urls.length;
    this.#pool = this.#openPool();
    pool.end().catch(() => undefined);
  }

  #openPool(): Pool {
    const { servers, types, limits } = this.#options;
    const pool = new Pool({
      connectionString: servers.urls[this.#server] ?? '',
      types,
      max: limits.connections,
      connectionTimeoutMillis: limits.connectMs,
      query_timeout: limits.queryMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: limits.keepAliveMs,
      ...PIPELINE,
      ...settingUp(limits, servers.must),
    });
    // A connection that breaks while idle has left the pool already. Without a listener the event would end the
    // process.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      // A connection that breaks while in use rejects its query as well, and is handled there.
      client.on('error', () => undefined);
      client.once('end', () => this.#open.delete(client));
      this.#open.set(client, pool);
    });
    return pool;
  }

  /** Drops the pool. Its queries under way go on until they end or time out. */
  #giveUp(pool: Pool): void {
    if (pool !== this.#pool || pool.ending) return;
    this.#pool = this.#openPool();
    const old = [...this.#open.keys()];
    pool.end().catch(() => undefined);
    const { queryMs } = this.#options.limits;
    // An idle connection is asked to end. A dead one never answers that.
    void setTimeout(queryMs + CLOSE_MS, undefined, { ref: false }).then(() => old.forEach(destroy));
  }
}

/**
 * The settings of a new connection. They are not sent with its start, which poolers refuse, and each transaction sets
 * them again for itself. The pool waits for the promise, which its types do not show.
 */
function settingUp({ statementMs }: PostgresLimits, must: PostgresServers['must']): object {
  return {
    onConnect: async (client: PoolClient) => {
      await client.query(`SET statement_timeout = ${statementMs}`);
      if (must === null) return;
      const { rows } = await client.query(
        "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only",
      );
      const [{ standby, read_only }] = rows as [{ standby: boolean; read_only: boolean }];
      if (must === 'primary' ? standby : read_only) throw new Error(`The server is not ${must}.`);
    },
  };
}

/** The driver takes a time-out for one statement, which its types do not show. */
function waiting(query_timeout: number | undefined): object {
  return query_timeout === undefined ? {} : { query_timeout };
}

async function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

function destroy(client: PoolClient): void {
  const { connection } = client as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
