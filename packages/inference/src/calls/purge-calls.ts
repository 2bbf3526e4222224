import type { CallStore } from './call-store.ts';

const DAY_SECONDS = 86_400;

/**
 * Deletes at most `limit` calls that have been listed for more than `days` whole days (UTC); how many they were. 0 days keep them for ever.
 * `now`: Unix seconds.
 */
export async function purgeCalls(
  calls: Pick<CallStore, 'purge'>,
  days: number,
  now: number,
  limit: number,
): Promise<number> {
  if (days === 0) return 0;
  const today = Math.floor(now / DAY_SECONDS);
  return calls.purge((today - days) * DAY_SECONDS, limit);
}
