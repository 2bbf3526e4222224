import { type ErrorCode, errorTable, type TallyError } from '@tallystick/core';
import type { ProviderWords } from './refusal.ts';

/** An error in the form of OpenAI's API, so that its clients raise the exceptions that they would with OpenAI. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** The codes for which OpenAI has its own. */
const CODES: Partial<Record<ErrorCode, string>> = {
  context_too_long: 'context_length_exceeded',
  api_key_missing: 'invalid_api_key',
  api_key_invalid: 'invalid_api_key',
  api_key_revoked: 'invalid_api_key',
  insufficient_balance: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  provider_rate_limited: 'rate_limit_exceeded',
};

/** @param words the provider's own message, which is put before ours */
export function openAiError(error: TallyError, words?: ProviderWords): OpenAiError {
  const { status } = errorTable[error.code];
  return {
    message: error.message,
    type: words?.type ?? typeOf(status),
    param: error.field ?? null,
    code: words?.code ?? CODES[error.code] ?? error.code,
  };
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 402) return 'insufficient_quota';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
