import type { StatusState } from '@tallystick/core';

/** What a state is of. */
export const STATUS_KINDS = ['endpoint', 'provider', 'model'] as const;
export type StatusKind = (typeof STATUS_KINDS)[number];

export interface StatusSubject {
  readonly kind: StatusKind;
  /** The name of an endpoint, or the id of a provider or model. */
  readonly id: string;
}

/** What a round of probes has found. */
export interface StatusFinding extends StatusSubject {
  readonly state: StatusState;
  readonly code: string;
}

export interface StatusChange extends StatusFinding {
  /** The state before. */
  readonly from: StatusState;
}

/** How many rounds of a day found each state. */
export interface StatusDay extends StatusSubject, Readonly<Record<StatusState, number>> {
  /** UTC, `2026-03-01`. */
  readonly day: string;
}

/** A time in which something was degraded or down. Times are Unix milliseconds. */
export interface Incident extends StatusSubject {
  readonly startedAt: number;
  /** Null while it lasts. */
  readonly endedAt: number | null;
  /** The worst state in it, and the code with which it began. */
  readonly state: StatusState;
  readonly code: string;
}

/** The states that rounds of probes have found. Errors and ordering are those of `Store`. */
export interface StatusHistoryStore {
  /**
   * Counts the findings of a round, and begins and ends incidents: one begins with `degraded` or `down` and ends with
   * `up`; `unknown` changes nothing. Returns what has changed.
   * @param now Unix milliseconds
   */
  record(findings: readonly StatusFinding[], now: number): Promise<StatusChange[]>;
  /** The days from one on, of these kinds, by kind, id and day. @param from `2026-03-01` */
  days(kinds: readonly StatusKind[], from: string): Promise<StatusDay[]>;
  /** The newest incidents of these kinds that lasted at or after `from`, newest first. */
  incidents(kinds: readonly StatusKind[], from: number, limit: number): Promise<Incident[]>;
  /** Forgets the days before one, and incidents that ended before it. @param before `2026-03-01` */
  purge(before: string): Promise<void>;
}
