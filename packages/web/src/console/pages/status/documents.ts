import type { Found } from '../../components/state.tsx';

/** Rounds of a day that found each state. */
export interface Day {
  readonly day: string;
  readonly up: number;
  readonly degraded: number;
  readonly down: number;
  readonly unknown: number;
  readonly uptime: number | null;
}

export interface Subject {
  readonly kind: 'endpoint' | 'provider' | 'model';
  readonly id: string;
  readonly uptime: number | null;
  readonly days: readonly Day[];
}

export interface Incident {
  readonly kind: Subject['kind'];
  readonly id: string;
  readonly state: Found;
  readonly code: string;
  readonly started_at: string;
  readonly ended_at: string | null;
}

/** Answer of `GET /v1/status/history`. */
export interface History {
  readonly from: string;
  readonly to: string;
  readonly subjects: readonly Subject[];
  readonly incidents: readonly Incident[];
}
