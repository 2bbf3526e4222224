import { join } from 'node:path';
import type { Reader } from './reader.ts';

/** The database that holds the data. */
export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly limits: PostgresLimits };

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

const LONGEST_MS = 600_000;

export function readDatabase(read: Reader, dataDir: string): Database {
  const url = read.secretUrl(
    'TALLY_DATABASE_URL',
    ['postgres:', 'postgresql:'],
    'postgres://tally@db.internal:5432/tally',
  );
  const limits = readLimits(read);
  return url === null
    ? { kind: 'sqlite', path: join(dataDir, 'tally.db') }
    : { kind: 'postgres', url, limits };
}

function readLimits(read: Reader): PostgresLimits {
  const ms = (name: string, fallback: number): number =>
    read.integer(`TALLY_DATABASE_${name}_TIMEOUT_MS`, fallback, 100, LONGEST_MS);
  const limits = {
    connections: read.integer('TALLY_DATABASE_POOL', POSTGRES_LIMITS.connections, 2, 1_000),
    connectMs: ms('CONNECT', POSTGRES_LIMITS.connectMs),
    statementMs: ms('STATEMENT', POSTGRES_LIMITS.statementMs),
    lockMs: ms('LOCK', POSTGRES_LIMITS.lockMs),
    idleTransactionMs: ms('IDLE_TRANSACTION', POSTGRES_LIMITS.idleTransactionMs),
    queryMs: ms('QUERY', POSTGRES_LIMITS.queryMs),
    keepAliveMs: read.integer('TALLY_DATABASE_KEEPALIVE_MS', POSTGRES_LIMITS.keepAliveMs, 1_000, LONGEST_MS),
  };
  // The server must be able to end a slow statement first: when this limit passes, the connection is given up.
  if (limits.queryMs <= limits.statementMs) {
    read.fault(
      'TALLY_DATABASE_QUERY_TIMEOUT_MS',
      `is ${limits.queryMs}, which is not longer than TALLY_DATABASE_STATEMENT_TIMEOUT_MS`,
      String(limits.statementMs + 2_000),
    );
  }
  return limits;
}
