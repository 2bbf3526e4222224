import type { ProviderError, ProviderErrorKind } from '../providers/provider.ts';
import { Breaker, type BreakerPolicy, defaultBreakerPolicy } from './breaker.ts';
import type { Rest } from './light.ts';
import { type Light, lightOf } from './light.ts';
import { OutcomeRecord } from './outcomes.ts';

/** The key of a breaker: one model of one provider. */
interface HealthTarget {
  readonly provider: string;
  readonly upstreamModel: string;
}

/**
 * Which models answer, in this process's memory. Each call must report its end once: after the last byte of its answer,
 * or with its failure after all retries.
 */
export interface Health {
  /** Whether the model may be called. Changes nothing. */
  available(model: HealthTarget): boolean;
  /** Why and how long the model rests; null if it may be called. Changes nothing. */
  rest(model: HealthTarget): Rest | null;
  /** The model's state by its calls of the last minutes. Changes nothing. */
  light(model: HealthTarget): Light;
  /** Milliseconds since a call of the model was answered or failed; null if none was. */
  sinceLastCall(model: HealthTarget): number | null;
  success(model: HealthTarget): void;
  /** Reports a failed call. An abort and a faulty request do not count against the model. */
  failure(model: HealthTarget, error: ProviderError): void;
}

export interface HealthOptions {
  /** Milliseconds that never go back. */
  readonly now?: () => number;
  readonly policy?: BreakerPolicy;
  /** Milliseconds for which a model rests after its provider said that it has no such model. */
  readonly goneRestMs?: number;
  /** Told once for each rest that a model is given, when it begins: why, and its length in milliseconds. */
  readonly onRest?: (model: HealthTarget, why: ProviderErrorKind, restMs: number) => void;
}

const HOUR_MS = 3_600_000;
/**
 * The longest such rest, in milliseconds, of a model that has answered in the last minutes: the 404 may be about
 * something else in the request, which must not make the model unavailable to all callers for long.
 */
const DOUBTFUL_REST_MS = 60_000;
const harmless: ReadonlySet<ProviderErrorKind> = new Set(['aborted', 'refused']);

/** Keeps a breaker for each model that was ever called. Calls name only models of the catalogue, which bounds their number. */
export function createHealth({
  now = () => performance.now(),
  policy = defaultBreakerPolicy,
  goneRestMs = HOUR_MS,
  onRest = () => {},
}: HealthOptions = {}): Health {
  const tracks = new Map<string, Track>();

  const trackOf = ({ provider, upstreamModel }: HealthTarget): Track => {
    // No provider's name contains a slash.
    const key = `${provider}/${upstreamModel}`;
    const track = tracks.get(key) ?? {
      breaker: new Breaker(policy),
      outcomes: new OutcomeRecord(),
      goneUntil: 0,
    };
    tracks.set(key, track);
    return track;
  };

  const rest = (model: HealthTarget): Rest | null => {
    const { breaker, goneUntil } = trackOf(model);
    const goneMs = goneUntil - now();
    if (goneMs > 0) return { gone: true, remainingMs: goneMs };
    const remainingMs = breaker.remaining(now());
    return remainingMs > 0 ? { gone: false, remainingMs } : null;
  };

  return {
    available: (model) => rest(model) === null,
    rest,
    light: (model) => lightOf(trackOf(model).outcomes.read(now()), rest(model), now()),
    sinceLastCall(model) {
      const { answeredAt, failedAt } = trackOf(model).outcomes.read(now());
      const last = Math.max(answeredAt ?? -Infinity, failedAt ?? -Infinity);
      return last === -Infinity ? null : now() - last;
    },
    success(model) {
      const track = trackOf(model);
      // A model that answers exists, even if an earlier call was told otherwise.
      track.goneUntil = 0;
      track.breaker.success(now());
      track.outcomes.answered(now());
    },
    failure(model, error) {
      if (harmless.has(error.kind)) return;
      const track = trackOf(model);
      const { breaker } = track;
      track.outcomes.failed(now(), error.kind);
      if (error.kind === 'gone') {
        // Concurrent calls get the same answer.
        if (rest(model)?.gone === true) return;
        const { answered } = track.outcomes.read(now());
        const restMs = answered > 0 ? Math.min(DOUBTFUL_REST_MS, goneRestMs) : goneRestMs;
        track.goneUntil = now() + restMs;
        onRest(model, 'gone', restMs);
        return;
      }
      const rested = breaker.remaining(now()) > 0;
      // A provider that asks for time gets it, and one that refuses our credentials will refuse the next call too.
      if (error.retryAfterMs !== null) breaker.rest(now(), error.retryAfterMs);
      else if (error.kind === 'auth') breaker.rest(now(), policy.maxOpenMs);
      else breaker.failure(now());
      const restMs = breaker.remaining(now());
      if (!rested && restMs > 0) onRest(model, error.kind, restMs);
    },
  };
}

/** The record of one model. */
interface Track {
  readonly breaker: Breaker;
  readonly outcomes: OutcomeRecord;
  /** Until when a model that is gone rests. */
  goneUntil: number;
}
