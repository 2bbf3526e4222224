/** The number of connections to PostgreSQL, and the time-outs of everything that waits there. */
export interface PostgresLimits {
  /** The most connections that this process opens. */
  readonly connections: number;
  /** Milliseconds within which a connection must open, or an open one become free. */
  readonly connectMs: number;
  /** Milliseconds that the server may work on one statement, including waiting for locks. */
  readonly statementMs: number;
  /** Milliseconds that one statement may wait for a lock. */
  readonly lockMs: number;
  /** Milliseconds that a transaction may be open without running a statement. The server then ends its connection. */
  readonly idleTransactionMs: number;
  /** Milliseconds within which the answer to a statement must arrive. The connection then counts as dead. */
  readonly queryMs: number;
  /** Milliseconds of silence after which the operating system probes the connection. */
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
