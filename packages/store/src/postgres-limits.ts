/** How many connections to PostgreSQL a process has, and how long it waits for anything there. */
export interface PostgresLimits {
  /** Most connections of this process. */
  readonly connections: number;
  /** Milliseconds until a connection must be open, or one of the open ones free. */
  readonly connectMs: number;
  /** Milliseconds that the server works on one statement, its waiting for locks included. */
  readonly statementMs: number;
  /** Milliseconds that one statement waits for a lock. */
  readonly lockMs: number;
  /** Milliseconds that a transaction may be open without a statement; the server then ends its connection. */
  readonly idleTransactionMs: number;
  /** Milliseconds until the answer to a statement must be here; the connection then counts as dead. */
  readonly queryMs: number;
  /** Milliseconds of silence after which the operating system asks whether the other end is still there. */
  readonly keepAliveMs: number;
}

export const POSTGRES_LIMITS: PostgresLimits = {
  connections: 10,
  connectMs: 5_000,
  statementMs: 8_000,
  lockMs: 5_000,
  idleTransactionMs: 3_000,
  queryMs: 10_000,
  keepAliveMs: 10_000,
};
