import type { ProviderError, ProviderErrorKind } from '../providers/provider.ts';
import { Breaker, type BreakerPolicy, defaultBreakerPolicy } from './breaker.ts';

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
  /** Changes nothing. */
  available(model: HealthTarget): boolean;
  success(model: HealthTarget): void;
  /** An abort and a request at fault say nothing against the model. */
  failure(model: HealthTarget, error: ProviderError): void;
}

const harmless: ReadonlySet<ProviderErrorKind> = new Set(['aborted', 'refused']);

/**
 * A breaker for each model that was ever called; callers name models of the catalogue only, which bounds them.
 * @param now milliseconds that never go back
 */
export function createHealth(
  now: () => number = () => performance.now(),
  policy: BreakerPolicy = defaultBreakerPolicy,
): Health {
  const breakers = new Map<string, Breaker>();

  const breakerOf = ({ provider, upstreamModel }: HealthTarget): Breaker => {
    // No provider's name holds a slash.
    const key = `${provider}/${upstreamModel}`;
    const breaker = breakers.get(key) ?? new Breaker(policy);
    breakers.set(key, breaker);
    return breaker;
  };

  return {
    available: (model) => breakerOf(model).available(now()),
    success: (model) => breakerOf(model).success(now()),
    failure(model, error) {
      if (harmless.has(error.kind)) return;
      const breaker = breakerOf(model);
      // One that asks for time is given it, and one that does not let us in will not do so at the next call.
      if (error.retryAfterMs !== null) breaker.rest(now(), error.retryAfterMs);
      else if (error.kind === 'auth') breaker.rest(now(), policy.maxOpenMs);
      else breaker.failure(now());
    },
  };
}
