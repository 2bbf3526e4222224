import type { RoomWindow } from '@tallystick/callers';
import { RETENTION_DAYS } from '@tallystick/core';

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
  const start = Math.min(Math.max(from ?? 0, firstSecond(ROOM_DAYS, asOf)), end);
  return { from: start, nanoFrom: Math.max(start, firstSecond(RETENTION_DAYS.nano, asOf)), to: end };
}

/** What has left the room between two times: of nano, and of all other profiles, the seconds of issue. */
export function departures(since: number, asOf: number): { others: Seconds; nano: Seconds } {
  const between = (days: number): Seconds => ({
    from: Math.max(0, firstSecond(days, since)),
    to: Math.max(0, firstSecond(days, asOf)),
  });
  return { others: between(ROOM_DAYS), nano: between(RETENTION_DAYS.nano) };
}

interface Seconds {
  readonly from: number;
  readonly to: number;
}

/** The first second of issue that is still kept after so many days. */
function firstSecond(days: number, asOf: number): number {
  return asOf - days * DAY + 1;
}
