import { RETENTIONS } from '@tallystick/core';
import type { DepartureWindow, RoomWindow } from '../store/tenant-store.ts';

/** For how long a receipt stays in the evidence room, where its profile does not end sooner (specification 4.1). */
export const ROOM_DAYS = 365;
const DAY = 86_400;

/** What a caller asks for, in unix seconds; half-open. */
export interface AskedPeriod {
  readonly from: number | null;
  readonly to: number | null;
}

/** The receipts of a period that are in the room at `asOf` (unix seconds): those that come later are left out. */
export function roomWindow({ from, to }: AskedPeriod, asOf: number): RoomWindow {
  const end = Math.min(to ?? asOf, asOf);
  return { from: Math.min(Math.max(from ?? 0, firstSecond(ROOM_DAYS, asOf)), end), to: end, asOf };
}

/**
 * What has left the room between two times (unix seconds): the receipts that are kept as long as the room keeps any, and
 * for each shorter retention those that are kept so long.
 */
export function departures(since: number, asOf: number): readonly DepartureWindow[] {
  const between = (days: number): Seconds => ({
    from: Math.max(0, firstSecond(days, since)),
    to: Math.max(0, firstSecond(days, asOf)),
  });
  const shorter = RETENTIONS.filter((days) => days < ROOM_DAYS);
  return [
    { ...between(ROOM_DAYS), keptSeconds: { least: ROOM_DAYS * DAY, most: Number.MAX_SAFE_INTEGER } },
    ...shorter.map((days) => ({
      ...between(days),
      keptSeconds: { least: days * DAY, most: days * DAY },
    })),
  ];
}

interface Seconds {
  readonly from: number;
  readonly to: number;
}

/** The first second of issue that is still kept after so many days. */
function firstSecond(days: number, asOf: number): number {
  return asOf - days * DAY + 1;
}
