import { join } from 'node:path';
import { POSTGRES_LIMITS, type PostgresLimits, readPostgresUrl } from '@tallystick/store';
import type { EnvReader } from './reader.ts';

/** The database that holds the data. */
export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly limits: PostgresLimits;
      /** How long a start waits for a server that cannot be reached, in milliseconds. */
      readonly waitMs: number;
    };

const LONGEST_MS = 600_000;

export function readDatabase(read: EnvReader, dataDir: string): Database {
  const url = read.secretUrl('TALLY_DATABASE_URL', (text) => readPostgresUrl(text) !== null, {
    what: 'a postgres:// or postgresql:// URL, with one host or several, whose target_session_attrs is read-write or primary if it has any',
    example: 'postgres://tally@db1:5432,db2:5432/tally?target_session_attrs=read-write',
  });
  const limits = readLimits(read);
  const waitMs = read.integer('TALLY_DATABASE_WAIT_SECONDS', 60, 0, 3_600) * 1_000;
  return url === null
    ? { kind: 'sqlite', path: join(dataDir, 'tally.db') }
    : { kind: 'postgres', url, limits, waitMs };
}

function readLimits(read: EnvReader): PostgresLimits {
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
  // The server must be able to end a slow statement first: when this limit passes, the connection is dropped.
  if (limits.queryMs <= limits.statementMs) {
    read.fault(
      'TALLY_DATABASE_QUERY_TIMEOUT_MS',
      `is ${limits.queryMs}, which is not longer than TALLY_DATABASE_STATEMENT_TIMEOUT_MS`,
      String(limits.statementMs + 2_000),
    );
  }
  return limits;
}
