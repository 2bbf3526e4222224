import type { ProviderError, ProviderErrorKind } from '../providers/provider.ts';
import { Breaker, type BreakerPolicy, defaultBreakerPolicy } from './breaker.ts';
import type { Rest } from './light.ts';
import { type Light, lightOf } from './light.ts';
import { OutcomeRecord } from './outcomes.ts';

/** What a breaker is kept for: one model of one provider. */
interface HealthTarget {
  readonly provider: string;
  readonly upstreamModel: string;
}

/**
 * Which models answer. In memory, of this process alone. Each call that is sent reports its end once: after the
 * last byte of its answer, or with what it failed with after its retries.
 */
export interface Health {
  /** Whether the model may be asked. Changes nothing. */
  available(model: HealthTarget): boolean;
  /** The rest that the model is given; null where it may be asked. Changes nothing. */
  rest(model: HealthTarget): Rest | null;
  /** What calls of the last minutes say of the model. Changes nothing. */
  light(model: HealthTarget): Light;
  /** Milliseconds since a call of the model was answered or failed; null where none was. */
  sinceLastCall(model: HealthTarget): number | null;
  success(model: HealthTarget): void;
  /** An abort and a request at fault say nothing against the model. */
  failure(model: HealthTarget, error: ProviderError): void;
}

export interface HealthOptions {
  /** Milliseconds that never go back. */
  readonly now?: () => number;
  readonly policy?: BreakerPolicy;
  /** How long a model is not asked after its provider said that it has no such model, in milliseconds. */
  readonly goneRestMs?: number;
  /** Told once for each such rest, when it begins, with its length in milliseconds. */
  readonly onGone?: (model: HealthTarget, restMs: number) => void;
}

const HOUR_MS = 3_600_000;
/**
 * The longest such rest of a model that has answered in the last minutes, in milliseconds: the 404 may then be about
 * something else in the request, which must not take the model from all callers for long.
 */
const DOUBTFUL_REST_MS = 60_000;
const harmless: ReadonlySet<ProviderErrorKind> = new Set(['aborted', 'refused']);

/** A breaker for each model that was ever called; callers name models of the catalogue only, which bounds them. */
export function createHealth({
  now = () => performance.now(),
  policy = defaultBreakerPolicy,
  goneRestMs = HOUR_MS,
  onGone = () => {},
}: HealthOptions = {}): Health {
  const tracks = new Map<string, Track>();

  const trackOf = ({ provider, upstreamModel }: HealthTarget): Track => {
    // No provider's name holds a slash.
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
      // A model that answers is there, also where an earlier call was told otherwise.
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
        // Calls that were under way together are told the same.
        if (rest(model)?.gone === true) return;
        const { answered } = track.outcomes.read(now());
        const restMs = answered > 0 ? Math.min(DOUBTFUL_REST_MS, goneRestMs) : goneRestMs;
        track.goneUntil = now() + restMs;
        onGone(model, restMs);
        return;
      }
      // One that asks for time is given it, and one that does not let us in will not do so at the next call.
      if (error.retryAfterMs !== null) breaker.rest(now(), error.retryAfterMs);
      else if (error.kind === 'auth') breaker.rest(now(), policy.maxOpenMs);
      else breaker.failure(now());
    },
  };
}

/** What is remembered of one model. */
interface Track {
  readonly breaker: Breaker;
  readonly outcomes: OutcomeRecord;
  /** Until when a model that is gone is not asked. */
  goneUntil: number;
}
