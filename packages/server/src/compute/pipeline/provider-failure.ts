import { TallyError } from '@tallystick/core';
import type { ProviderError } from '../providers/provider.ts';
import type { CallSignal } from './call-signal.ts';

/** What the caller is told of a call that failed, or that was ended from here. See `publicFailure`. */
export function failureOf(
  signal: Pick<CallSignal, 'reason' | 'stopped'>,
  error: ProviderError,
  headers: Record<string, string>,
): TallyError {
  if (signal.stopped && error.kind === 'aborted')
    return new TallyError(
      'unavailable',
      'The call ended because the service is shutting down. Send it again.',
      {
        cause: error,
      },
    );
  return publicFailure(signal.reason(error), headers);
}

/**
 * What the caller is told when no provider served the call. The provider's own words are passed on only where
 * they are about the request.
 * @param headers gets `retry-after`
 */
function publicFailure(error: ProviderError, headers: Record<string, string>): TallyError {
  const { kind, retryAfterMs } = error;
  if (retryAfterMs !== null) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  switch (kind) {
    case 'refused':
      return refused(error);
    case 'rate_limited':
      return new TallyError(
        'provider_rate_limited',
        'The provider is limiting the rate of calls. Try again later, or name another model.',
        { cause: error },
      );
    case 'timeout':
      return new TallyError(
        'provider_timeout',
        'The provider did not answer in time. Try again, or name another model.',
        { cause: error },
      );
    case 'too_long':
      return new TallyError(
        'provider_failed',
        'The provider sent far more than max_tokens allows, so its answer was ended here.',
        { cause: error },
      );
    case 'aborted':
      return new TallyError('client_closed', 'The client closed the connection.', { cause: error });
    default:
      return new TallyError(
        'provider_failed',
        "The provider's answer was not usable. Try again, or name another model.",
        { cause: error },
      );
  }
}

function refused(error: ProviderError): TallyError {
  const { message, param } = error.error ?? {};
  return new TallyError(
    'provider_refused',
    typeof message === 'string' && message !== '' ? message : 'The provider refused the request.',
    { field: typeof param === 'string' ? param : undefined, cause: error },
  );
}
