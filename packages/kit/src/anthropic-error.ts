import { type ErrorCode, errorTable, type TallyError } from '@tallystick/core';

/** An error in the form of Anthropic's API, so that its clients raise the exceptions that they would with Anthropic. */
export interface AnthropicError {
  readonly type: string;
  readonly message: string;
  /** Anthropic's clients show `error_code` as the error's own code. */
  readonly details: { readonly error_code: string; readonly field?: string };
}

/** Anthropic’s own names of codes. Its clients send the whole conversation again where a thread is refused by `thread_unsupported_request`. */
const CODES: Partial<Record<ErrorCode, string>> = { state_not_kept: 'thread_unsupported_request' };

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

export function anthropicError({ code, message, field }: TallyError): AnthropicError {
  const { status } = errorTable[code];
  return {
    type: TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
    message,
    details: { error_code: CODES[code] ?? code, ...(field !== undefined && { field }) },
  };
}
