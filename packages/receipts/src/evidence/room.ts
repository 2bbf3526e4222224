import type { DepartureWindow, RoomWindow } from '@tallystick/callers';
import { formatTimestamp, KEPT, TallyError } from '@tallystick/core';

/** Days for which a receipt stays in the evidence room, unless its profile's retention ends sooner (specification 4.1). */
export const ROOM_DAYS = 365;
/** Seconds of a day. */
export const DAY = 86_400;

/** Period that a caller requests, in Unix seconds; half-open. */
export interface RequestedPeriod {
  readonly from: number | null;
  readonly to: number | null;
}

/** The receipts of a period that are in the room at `asOf` (Unix seconds); later receipts are left out. */
export function roomWindow({ from, to }: RequestedPeriod, asOf: number): RoomWindow {
  const end = Math.min(to ?? asOf, asOf);
  const start = Math.min(Math.max(from ?? 0, firstSecond(ROOM_DAYS, asOf)), end);
  const sooner = STAYS.filter(({ days }) => days < ROOM_DAYS);
  const firstOf = Object.fromEntries(
    sooner.flatMap(({ days, profiles }) =>
      profiles.map((profile) => [profile, Math.max(start, firstSecond(days, asOf))] as const),
    ),
  );
  return { from: start, to: end, firstOf };
}

/**
 * @param now Unix seconds
 * @throws invalid_field for a period of which no second is in the room
 */
export function refuseEmptyPeriod({ from, to }: RequestedPeriod, now: number): void {
  if (from !== null && from > now)
    throw new TallyError('invalid_field', 'from must not be in the future.', { field: 'from' });
  const first = firstSecond(ROOM_DAYS, now);
  if (to === null || to > first) return;
  const begins = formatTimestamp(first * 1000);
  const message = `to must be after ${begins}, where the room begins: receipts stay in it for ${ROOM_DAYS} days.`;
  throw new TallyError('invalid_field', message, { field: 'to' });
}

/** The receipts that left the room between two times: first the profiles that stay longest. */
export function departures(since: number, asOf: number): DepartureWindow[] {
  return STAYS.map(({ days, profiles }) => ({
    profiles,
    from: Math.max(0, firstSecond(days, since)),
    to: Math.max(0, firstSecond(days, asOf)),
  }));
}

/** Days for which receipts stay in the room, with the profiles that stay so long; the longest first. */
const STAYS: readonly { readonly days: number; readonly profiles: readonly string[] }[] = [
  ...Map.groupBy(KEPT, ({ retentionDays }) => Math.min(retentionDays, ROOM_DAYS)),
]
  .map(([days, entries]) => ({ days, profiles: entries.map(({ name }) => name) }))
  .sort((a, b) => b.days - a.days);

/** The first second of issue whose receipts are still in the room, for profiles that stay so many days. */
function firstSecond(days: number, asOf: number): number {
  return asOf - days * DAY + 1;
}
