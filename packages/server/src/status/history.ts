import { webhookMessage } from '@tallystick/callers';
import { formatTimestamp, type StatusState } from '@tallystick/core';
import type { Incident, StatusDay, StatusKind, StatusSubject } from '@tallystick/kit';
import type { Store } from '@tallystick/store';
import type { RecordedStatus } from './status.ts';

/** Days that the history goes back. */
export const HISTORY_DAYS = 90;
const DAY_MS = 86_400_000;
const MOST_INCIDENTS = 1_000;

type Records = Pick<Store, 'statusHistory' | 'webhooks'>;

/** Adds a round to the history, and tells webhooks what has changed between `up`, `degraded` and `down`. */
export async function recordStatus(
  { statusHistory, webhooks }: Records,
  { findings, sequence, at }: RecordedStatus,
): Promise<void> {
  const changes = await statusHistory.record(findings, at);
  if (changes.length === 0) return;
  const data = {
    sequence,
    changes: changes.map(({ kind, id, from, state, code }) => ({ kind, id, from, to: state, code })),
  };
  await webhooks.emit(webhookMessage('status.changed', { occasion: `${sequence} ${at}`, at, data }), null);
}

/** @param now Unix milliseconds */
export async function forgetStatus({ statusHistory }: Records, now: number): Promise<void> {
  await statusHistory.purge(dayOf(now - (HISTORY_DAYS + 1) * DAY_MS));
}

interface DayDocument {
  readonly day: string;
  readonly up: number;
  readonly degraded: number;
  readonly down: number;
  readonly unknown: number;
  readonly uptime: number | null;
}

/** The history of the status of these kinds. @param now Unix milliseconds */
export async function statusHistory(
  { statusHistory: store }: Pick<Store, 'statusHistory'>,
  {
    kinds,
    days,
    now,
  }: { readonly kinds: readonly StatusKind[]; readonly days: number; readonly now: number },
) {
  const from = dayOf(now - (days - 1) * DAY_MS);
  const counted = Map.groupBy(await store.days(kinds, from), ({ kind, id }) => `${kind} ${id}`);
  const incidents = await store.incidents(kinds, Date.parse(from), MOST_INCIDENTS);
  return {
    from,
    to: dayOf(now),
    subjects: [...counted.values()].flatMap((rows) =>
      rows.slice(0, 1).map((row) => subjectDocument(row, rows)),
    ),
    incidents: incidents.map(incidentDocument),
  };
}

function subjectDocument({ kind, id }: StatusSubject, days: readonly StatusDay[]) {
  const sum = (state: StatusState): number => days.reduce((total, day) => total + day[state], 0);
  const uptime = uptimeOf({ up: sum('up'), degraded: sum('degraded'), down: sum('down') });
  return {
    kind,
    id,
    uptime,
    days: days.map(
      ({ day, up, degraded, down, unknown }): DayDocument => ({
        day,
        up,
        degraded,
        down,
        unknown,
        uptime: uptimeOf({ up, degraded, down }),
      }),
    ),
  };
}

/** The share of rounds that found it up or degraded, of those that found it at all; cut to four decimals. */
function uptimeOf({
  up,
  degraded,
  down,
}: Readonly<Record<'up' | 'degraded' | 'down', number>>): number | null {
  const known = up + degraded + down;
  return known === 0 ? null : Math.floor(((up + degraded) / known) * 10_000) / 10_000;
}

function incidentDocument({ kind, id, startedAt, endedAt, state, code }: Incident) {
  return {
    kind,
    id,
    state,
    code,
    started_at: formatTimestamp(startedAt),
    ended_at: endedAt === null ? null : formatTimestamp(endedAt),
  };
}

const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10);
