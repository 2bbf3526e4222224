import { setTimeout } from 'node:timers/promises';
import { DatabaseError, Pool, type PoolClient, type QueryResult, type TypeOverrides } from 'pg';
import { publicError } from './postgres-errors.ts';
import type { PostgresLimits } from './postgres-limits.ts';

export interface PoolOptions {
  readonly url: string;
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

/**
 * The connections to one PostgreSQL server. Nothing waits for one without end. A connection that fails below SQL, or is
 * silent for too long, is dropped, and so are all others that were open by then: what silently kills one (a failover, a
 * firewall) kills the others too, and each of them would cost its next user the same wait.
 */
export class PostgresPool {
  readonly #options: PoolOptions;
  #pool: Pool;
  /** Every open connection, also of dropped pools. */
  readonly #open = new Set<PoolClient>();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#pool = this.#openPool();
  }

  /**
   * Runs some work on a connection of its own. Work that fails leaves no transaction open.
   * @throws what `work` throws; unavailable where no connection is available
   */
  async use<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const pool = this.#pool;
    const client = await pool.connect().catch((error: unknown) => {
      throw publicError(error);
    });
    let dead = false;
    try {
      return await work((text, values, waitMs) =>
        client.query({ text, values, ...waiting(waitMs) }).catch((error: unknown) => {
          // Every error that the server itself reports is a DatabaseError.
          dead ||= !(error instanceof DatabaseError);
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
    for (const client of this.#open) destroy(client);
    await ended;
  }

  #openPool(): Pool {
    const { url, types, limits } = this.#options;
    const pool = new Pool({
      connectionString: url,
      types,
      max: limits.connections,
      connectionTimeoutMillis: limits.connectMs,
      query_timeout: limits.queryMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: limits.keepAliveMs,
      ...settingUp(limits),
    });
    // A connection that breaks while idle has left the pool already. Without a listener the event would end the
    // process.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      // A connection that breaks while in use rejects its query as well, and is handled there.
      client.on('error', () => undefined);
      client.once('end', () => this.#open.delete(client));
      this.#open.add(client);
    });
    return pool;
  }

  /** Drops the pool. Its queries under way go on until they end or time out. */
  #giveUp(pool: Pool): void {
    if (pool !== this.#pool || pool.ending) return;
    this.#pool = this.#openPool();
    const old = [...this.#open];
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
function settingUp({ statementMs }: PostgresLimits): object {
  return { onConnect: (client: PoolClient) => client.query(`SET statement_timeout = ${statementMs}`) };
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
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
