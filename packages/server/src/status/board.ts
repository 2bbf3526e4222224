import {
  formatTimestamp,
  type StatusEndpoint,
  type StatusModel,
  type StatusReport,
  type StatusState,
} from '@tallystick/core';
import type { ProbedEndpoint } from './endpoints.ts';
import type { FoundLight } from './models.ts';
import type { Finding } from './probe.ts';
import type { Trouble } from './trouble.ts';

/** The median is taken of so many newest answers of an endpoint. */
const SAMPLES = 15;
/** A median above this, in milliseconds, is degraded. */
const SLOW_MS = 1_000;

interface Track {
  state: StatusState;
  since: string;
  latencies: number[];
}

/** The recent results of each endpoint. */
export class Board {
  readonly #tracks = new Map<string, Track>();
  /** State and since when, by kind and id. */
  readonly #lights = new Map<string, Pick<StatusModel, 'state' | 'since'>>();

  /** Takes over since when the states apply, from an earlier process or another one. */
  resume({ endpoints, providers, models }: Pick<StatusReport, 'endpoints' | 'providers' | 'models'>): void {
    for (const { id, state, since } of providers) this.#lights.set(`provider ${id}`, { state, since });
    for (const { id, state, since } of models) this.#lights.set(`model ${id}`, { state, since });
    for (const { name, state, since } of endpoints) {
      const latencies = this.#tracks.get(name)?.latencies ?? [];
      this.#tracks.set(name, { state, since, latencies });
    }
  }

  /** @param now Unix milliseconds */
  noteLight(kind: 'provider' | 'model', { id, state, code, warning }: FoundLight, now: number): StatusModel {
    const before = this.#lights.get(`${kind} ${id}`);
    const since = before?.state === state ? before.since : formatTimestamp(now);
    this.#lights.set(`${kind} ${id}`, { state, since });
    return { id, state, code, since, ...(warning !== undefined && { warning }) };
  }

  /** @param now Unix milliseconds */
  note(
    { name, method, path, availability, probe }: ProbedEndpoint,
    finding: Finding,
    trouble: Trouble | null,
    now: number,
  ): StatusEndpoint {
    const before = this.#tracks.get(name);
    const latencies = [...(before?.latencies ?? []), ...latencyOf(finding)].slice(-SAMPLES);
    const median = medianOf(latencies);
    const { state, code } = judge(finding, trouble, median);
    const at = formatTimestamp(now);
    const since = before?.state === state ? before.since : at;
    this.#tracks.set(name, { state, since, latencies });
    return {
      name,
      method,
      path,
      availability,
      probe,
      state,
      code,
      latency_ms: median === null ? null : Math.round(median * 100) / 100,
      samples: latencies.length,
      checked_at: at,
      since,
    };
  }
}

const latencyOf = ({ milliseconds }: Finding): number[] => (milliseconds === null ? [] : [milliseconds]);

function judge(
  { well, code }: Finding,
  trouble: Trouble | null,
  median: number | null,
): { readonly state: StatusState; readonly code: string } {
  if (!well) return { state: 'down', code };
  if (trouble !== null) return trouble;
  return median !== null && median > SLOW_MS ? { state: 'degraded', code: 'slow' } : { state: 'up', code };
}

/** The median; the lower of two in the middle. */
function medianOf(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null;
}
