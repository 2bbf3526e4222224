import { TallyError } from '@tallystick/core';
import { DatabaseError } from 'pg';

/** The five characters of PostgreSQL's error code (appendix A), or undefined if the error is not the server's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/**
 * Turns errors that pass by themselves into `unavailable`: a connection fault (08), a server that became a standby
 * (25006), a transaction ended for idling (25P03), a deadlock (40001, 40P01), lack of resources (53), a lock not obtained in time (55P03), a shutdown or a
 * cancelled statement (57). Returns every other error unchanged.
 */
export function publicError(error: unknown): unknown {
  const state = sqlState(error);
  if (state !== undefined && !/^(?:08|25006|25P03|40001|40P01|53|55P03|57)/.test(state)) return error;
  return new TallyError('unavailable', 'The database cannot be reached at the moment.', { cause: error });
}

/**
 * Turns the refusals of a server that only the operator can mend into `unavailable`, with what to check: a wrong password or
 * user (28P01, 28000), a missing database (3D000). Returns every other error unchanged. The server's messages hold no password.
 */
export function startError(error: unknown): unknown {
  const state = sqlState(error);
  const said = error instanceof Error ? error.message : '';
  if (state === '28P01' || state === '28000')
    return new TallyError(
      'unavailable',
      `The database refuses the login (${said}). Check the user and the password in TALLY_DATABASE_URL, and the server’s pg_hba.conf.`,
      { cause: error },
    );
  if (state === '3D000')
    return new TallyError(
      'unavailable',
      `The server has no such database (${said}). Check its name in TALLY_DATABASE_URL, or create it.`,
      { cause: error },
    );
  return error;
}

/**
 * Whether an error of {@link publicError} says that the server has rolled a transaction back so that another one could go on: a
 * serialization failure (40001) or a deadlock (40P01). The same transaction may succeed if it is run again.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof TallyError && /^(?:40001|40P01)$/.test(sqlState(error.cause) ?? '');
}
