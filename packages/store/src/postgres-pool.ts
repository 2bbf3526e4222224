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
 * @param waitMs for its answer; without it as long as the pool waits for any
 */
export type RunStatement = (sql: string, values: unknown[], waitMs?: number) => Promise<QueryResult>;

/** Milliseconds that a query which is under way still has when the pool is closed. */
const CLOSE_MS = 2_000;

/**
 * Connections to one PostgreSQL, of which none is waited for without end.
 *
 * A connection that fails below SQL, or is silent for too long, is thrown away, and with it every other one that was
 * open by then: what kills one without a word (a failover, a firewall that has forgotten them) kills its neighbours,
 * and each of them would cost its next user the same wait.
 */
export class PostgresPool {
  readonly #options: PoolOptions;
  #pool: Pool;
  /** Every connection that is open, also those of pools that were given up. */
  readonly #open = new Set<PoolClient>();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#pool = this.#openPool();
  }

  /**
   * Runs some work on a connection of its own. Work that fails leaves no transaction open.
   * @throws what `work` throws; unavailable where no connection can be had
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
          // All that the server itself says is a DatabaseError.
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

  /** Lets go of all connections, of those that do not answer after two seconds. */
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
    // A connection that breaks while idle has left the pool already; unheard, the event would end the process.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      // One that breaks while in use rejects its query as well, which is where it is dealt with.
      client.on('error', () => undefined);
      client.once('end', () => this.#open.delete(client));
      this.#open.add(client);
    });
    return pool;
  }

  /** What still runs on the pool's connections goes on until it ends or is silent for too long itself. */
  #giveUp(pool: Pool): void {
    if (pool !== this.#pool || pool.ending) return;
    this.#pool = this.#openPool();
    const old = [...this.#open];
    pool.end().catch(() => undefined);
    const { queryMs } = this.#options.limits;
    // A connection that nobody uses is asked to end, and a dead one never answers that.
    void setTimeout(queryMs + CLOSE_MS, undefined, { ref: false }).then(() => old.forEach(destroy));
  }
}

/**
 * What a new connection begins with. It is not sent with the start of the connection, which poolers refuse; and
 * transactions set it again for themselves. The pool waits for it, which its types do not know.
 */
function settingUp({ statementMs }: PostgresLimits): object {
  return { onConnect: (client: PoolClient) => client.query(`SET statement_timeout = ${statementMs}`) };
}

/** The driver takes this for one statement, which its types do not know. */
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
