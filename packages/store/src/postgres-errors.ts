import { TallyError } from '@tallystick/core';
import { DatabaseError } from 'pg';

/** The five characters of PostgreSQL's appendix A, or undefined when the server did not speak. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/**
 * What passes by itself is `unavailable`: a connection fault (08), an idle transaction that was ended (25P03), a
 * deadlock (40001, 40P01), out of resources (53), a lock that was waited for too long (55P03), shutting down or
 * cancelled after too long a time (57).
 */
export function publicError(error: unknown): unknown {
  const state = sqlState(error);
  if (state !== undefined && !/^(?:08|25P03|40001|40P01|53|55P03|57)/.test(state)) return error;
  return new TallyError('unavailable', 'The database cannot be reached at the moment.', { cause: error });
}
