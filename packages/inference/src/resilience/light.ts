import type { StatusState } from '@tallystick/core';

/** Why and how long a model is not called. */
export interface Rest {
  /** Whether the provider said that it has no such model. */
  readonly gone: boolean;
  readonly remainingMs: number;
}

/** A model's state, with `ok` or the reason why it is not up. */
export interface Light {
  readonly state: StatusState;
  /** `ok`, `not_called`, `model_gone`, `failing`, or the kind of the last failure. */
  readonly code: string;
}

/** How the calls of a model ended lately. Times are milliseconds of one clock; null if there was none. */
export interface Outcomes {
  readonly answeredAt: number | null;
  readonly failedAt: number | null;
  /** Failures since the last answer. */
  readonly failedInARow: number;
  /** The kind of the last failure. */
  readonly failure: string;
  /** Number of calls of about the last `WINDOW_MS` that were answered, and that failed. */
  readonly answered: number;
  readonly failed: number;
}

/** Milliseconds for which a call says something about the present. */
export const WINDOW_MS = 300_000;
/** Milliseconds after which an answer no longer counts against a later failure. */
const FRESH_MS = 60_000;
/** Number of failures in a row from which a model is down. */
const FAILING = 3;
/** Share of failed calls from which a model is degraded. */
const FAILING_SHARE = 0.1;

/** The state follows from calls alone: nothing is up that did not answer, nothing is down that did not fail. */
export function lightOf(
  { answeredAt, failedAt, failedInARow, failure, answered, failed }: Outcomes,
  rest: Rest | null,
  now: number,
): Light {
  if (rest !== null) return { state: 'down', code: rest.gone ? 'model_gone' : failure };
  const [answer, fault] = [answeredAt ?? -Infinity, failedAt ?? -Infinity];
  if (Math.max(answer, fault) <= now - WINDOW_MS) return { state: 'unknown', code: 'not_called' };
  if (failedInARow > 0) {
    const down = failedInARow >= FAILING || answer <= now - FRESH_MS;
    return { state: down ? 'down' : 'degraded', code: failure };
  }
  return failed >= FAILING_SHARE * (answered + failed) && failed > 0
    ? { state: 'degraded', code: 'failing' }
    : { state: 'up', code: 'ok' };
}

/** The state of a provider, which follows from the states of its models. */
export function lightOfAll(lights: readonly Light[]): Light {
  const first = (...states: StatusState[]): Light | undefined =>
    lights.find(({ state }) => states.includes(state));
  const trouble = first('down') ?? first('degraded');
  if (first('up', 'degraded') === undefined) return trouble ?? { state: 'unknown', code: 'not_called' };
  return trouble === undefined ? { state: 'up', code: 'ok' } : { state: 'degraded', code: trouble.code };
}
