import { TallyError } from '@tallystick/core';
import { Refusal } from '@tallystick/kit';
import type { ProviderError } from '../providers/provider.ts';
import type { CallSignal } from './call-signal.ts';

/** The caller's error for a call that failed, or that the service ended. See `publicFailure`. */
export function failureOf(signal: Pick<CallSignal, 'reason' | 'stopped'>, error: ProviderError): TallyError {
  if (signal.stopped && error.kind === 'aborted')
    return new TallyError(
      'unavailable',
      'The call ended because the service is shutting down. Send it again.',
      {
        cause: error,
      },
    );
  return publicFailure(signal.reason(error));
}

/**
 * The caller's error when no provider served the call. The provider's own message is passed on only if it is about the
 * request.
 */
function publicFailure(error: ProviderError): Refusal {
  const { kind, retryAfterMs } = error;
  const options = { cause: error, retryAfter: retryAfterMs === null ? undefined : retryAfterMs / 1000 };
  switch (kind) {
    case 'refused':
      return refused(error, options);
    case 'rate_limited':
      return new Refusal(
        'provider_rate_limited',
        'The provider is limiting the rate of calls. Try again later, or name another model.',
        options,
      );
    case 'timeout':
      return new Refusal(
        'provider_timeout',
        'The provider did not answer in time. Try again, or name another model.',
        options,
      );
    case 'too_long':
      return new Refusal(
        'provider_failed',
        'The provider sent far more than max_tokens allows, so its answer was ended here.',
        options,
      );
    case 'aborted':
      return new Refusal('client_closed', 'The client closed the connection.', options);
    default:
      return new Refusal(
        'provider_failed',
        `${whatFailed(error)} Try again, or name another model.`,
        options,
      );
  }
}

/** What the provider did, as a sentence that names no host. */
function whatFailed({ kind, status }: ProviderError): string {
  switch (kind) {
    case 'unreachable':
      return 'The provider could not be reached, or closed the connection before it answered.';
    case 'cut':
      return 'The provider broke off its answer.';
    case 'auth':
      return status === null
        ? 'The service could not get credentials for the provider.'
        : `The provider refused the credentials or the account of the service, with status ${status}.`;
    default:
      return status === null
        ? "The provider's answer could not be read: it is not in the form that was expected."
        : `The provider failed with status ${status}.`;
  }
}

function refused(
  error: ProviderError,
  options: { readonly cause: unknown; readonly retryAfter: number | undefined },
): Refusal {
  const { message, param, type, code } = error.error ?? {};
  return new Refusal(
    'provider_refused',
    typeof message === 'string' && message !== '' ? message : 'The provider refused the request.',
    {
      ...options,
      field: textOrNull(param) || undefined,
      providerWords: { type: textOrNull(type), code: textOrNull(code) },
    },
  );
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
