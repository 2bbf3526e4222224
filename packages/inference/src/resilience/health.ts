import type { ProviderError, ProviderErrorKind } from '../providers/provider.ts';
import { Breaker, type BreakerPolicy, defaultBreakerPolicy } from './breaker.ts';
import type { Rest } from './light.ts';
import { type Light, lightOf, type Outcomes, WINDOW_MS } from './light.ts';
import { lastOf, OutcomeRecord, type ToldOutcomes, together } from './outcomes.ts';
import { ORDERS, type ToldRest } from './rest-store.ts';

/** The key of a breaker: one model of one provider. */
interface HealthTarget {
  readonly provider: string;
  readonly upstreamModel: string;
}

/**
 * Which models answer, in this process's memory, and what other processes tell of theirs. Each call must report its end once: after the last byte of its answer,
 * or with its failure after all retries.
 */
export interface Health {
  /** Whether the model may be called. Changes nothing. */
  available(model: HealthTarget): boolean;
  /** Why and how long the model rests; null if it may be called. Changes nothing. */
  rest(model: HealthTarget): Rest | null;
  /** The model's state by its calls of the last minutes, in all processes. Changes nothing. */
  light(model: HealthTarget): Light;
  /** How many calls of the model were answered, and failed, in the last five minutes. Changes nothing. */
  recent(model: HealthTarget): { readonly answered: number; readonly failed: number };
  /** Milliseconds since a call of the model was answered or failed; null if none was. */
  sinceLastCall(model: HealthTarget): number | null;
  success(model: HealthTarget): void;
  /** The rests that this process itself has given, each with its end on the clock of `HealthOptions.now`. */
  resting(): (ToldRest & { readonly until: number })[];
  /** How the calls that this process itself made in the last five minutes ended, each with the time of the last one. */
  outcomes(): (ToldOutcomes & { readonly lastAt: number })[];
  /** Replaces what other processes tell of their calls. It decides no call: a model rests for its own failures, and for rests that are told. */
  hearOutcomes(told: readonly ToldOutcomes[]): void;
  /**
   * Replaces what other processes tell of rests. A model that one of them took for gone is called all the same if it answered
   * here in the last minutes, unless that process too is in doubt: see `DOUBTFUL_REST_MS`. A model that the operator
   * resumes rests neither for this process nor for another.
   */
  hear(rests: readonly ToldRest[]): void;
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
  let heard: ReadonlyMap<string, Heard> = new Map();
  let elsewhere: ReadonlyMap<string, readonly Outcomes[]> = new Map();
  /** Milliseconds for which the operator's orders to resume were in force when they were last heard. */
  let resumed: ReadonlyMap<string, number> = new Map();

  const trackOf = (model: HealthTarget): Track => {
    const key = targetOf(model);
    const track = tracks.get(key) ?? {
      breaker: new Breaker(policy),
      outcomes: new OutcomeRecord(),
      goneUntil: 0,
    };
    tracks.set(key, track);
    return track;
  };

  const everywhere = (model: HealthTarget): Outcomes =>
    together([trackOf(model).outcomes.read(now()), ...(elsewhere.get(targetOf(model)) ?? [])]);

  const wake = (track: Track | undefined): void => {
    if (track === undefined) return;
    track.goneUntil = 0;
    track.breaker.close();
  };

  const ownRest = ({ breaker, goneUntil }: Track): Rest | null => {
    const goneMs = goneUntil - now();
    if (goneMs > 0) return { gone: true, remainingMs: goneMs };
    const remainingMs = breaker.remaining(now());
    return remainingMs > 0 ? { gone: false, remainingMs } : null;
  };

  const heardRest = (model: HealthTarget): (Rest & { readonly why: string }) | null => {
    const { why, until } = heard.get(targetOf(model)) ?? { why: '', until: 0 };
    const remainingMs = until - now();
    return remainingMs > 0 ? { gone: why === 'gone', remainingMs, why } : null;
  };

  const rest = (model: HealthTarget): Rest | null => {
    const own = ownRest(trackOf(model));
    const told = heardRest(model);
    if (own === null || told === null)
      return own ?? (told && { gone: told.gone, remainingMs: told.remainingMs });
    return { gone: own.gone || told.gone, remainingMs: Math.max(own.remainingMs, told.remainingMs) };
  };

  return {
    available: (model) => rest(model) === null,
    rest,
    light(model) {
      const track = trackOf(model);
      const outcomes = everywhere(model);
      const told = heardRest(model)?.why;
      const isOwn = ownRest(track) !== null && told !== ORDERS.rest;
      const failure = isOwn ? track.outcomes.read(now()).failure : (told ?? outcomes.failure);
      return lightOf({ ...outcomes, failure }, rest(model), now());
    },
    recent(model) {
      const { answered, failed } = everywhere(model);
      return { answered, failed };
    },
    sinceLastCall(model) {
      const last = lastOf(everywhere(model));
      return last === null ? null : now() - last;
    },
    outcomes() {
      const at = now();
      return [...tracks].flatMap(([model, track]) => {
        const { answeredAt, failedAt, ...counts } = track.outcomes.read(at);
        const lastAt = lastOf({ answeredAt, failedAt, ...counts });
        if (lastAt === null || lastAt <= at - WINDOW_MS) return [];
        const answeredMs = answeredAt === null ? null : at - answeredAt;
        const failedMs = failedAt === null ? null : at - failedAt;
        return [{ model, ...counts, answeredMs, failedMs, lastAt }];
      });
    },
    hearOutcomes(told) {
      const at = now();
      const timeOf = (ms: number | null): number | null => (ms === null ? null : at - ms);
      const times = ({ answeredMs, failedMs, ...rest }: ToldOutcomes) => ({
        ...rest,
        answeredAt: timeOf(answeredMs),
        failedAt: timeOf(failedMs),
      });
      elsewhere = Map.groupBy(told.map(times), ({ model }) => model);
    },
    success(model) {
      const track = trackOf(model);
      // A model that answers exists, even if an earlier call was told otherwise.
      track.goneUntil = 0;
      track.breaker.success(now());
      track.outcomes.answered(now());
    },
    resting() {
      const at = now();
      return [...tracks].flatMap(([model, track]) => {
        const own = ownRest(track);
        if (own === null) return [];
        const why = own.gone ? 'gone' : track.outcomes.read(at).failure;
        return [{ model, why, remainingMs: own.remainingMs, until: at + own.remainingMs }];
      });
    },
    hear(rests) {
      const at = now();
      const latest = new Map<string, Heard>();
      const before = resumed;
      resumed = new Map(
        rests.flatMap(({ model, why, remainingMs }) => (why === ORDERS.resume ? [[model, remainingMs]] : [])),
      );
      // An order is heard several times, and carried out once: a later failure gives the model a rest again.
      for (const [model, remainingMs] of resumed)
        if (remainingMs > (before.get(model) ?? 0)) wake(tracks.get(model));
      for (const { model, why, remainingMs } of rests) {
        if (resumed.has(model)) continue;
        const answered = tracks.get(model)?.outcomes.read(at).answered ?? 0;
        if (why === 'gone' && answered > 0 && remainingMs > DOUBTFUL_REST_MS) continue;
        const until = at + remainingMs;
        if (until > (latest.get(model)?.until ?? 0)) latest.set(model, { why, until });
      }
      heard = latest;
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

/** The name by which a model's record and its rests are known. No provider's name contains a slash. */
export function targetOf({ provider, upstreamModel }: HealthTarget): string {
  return `${provider}/${upstreamModel}`;
}

/** A rest of a model in another process. */
interface Heard {
  readonly why: string;
  readonly until: number;
}

/** The record of one model. */
interface Track {
  readonly breaker: Breaker;
  readonly outcomes: OutcomeRecord;
  /** Until when a model that is gone rests. */
  goneUntil: number;
}
