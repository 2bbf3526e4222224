import { type ErrorCode, errorTable, TallyError } from '@tallystick/core';
import { ProviderError } from '../compute/providers/provider.ts';
import type { Problem } from '../problem.ts';

/** An error as OpenAI's API shapes it, so that its clients raise the exceptions that theirs would. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** Where OpenAI has a code of its own. */
const CODES: Partial<Record<ErrorCode, string>> = {
  context_too_long: 'context_length_exceeded',
  api_key_missing: 'invalid_api_key',
  api_key_invalid: 'invalid_api_key',
  api_key_revoked: 'invalid_api_key',
  insufficient_balance: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  provider_rate_limited: 'rate_limit_exceeded',
};

export function openAiError(problem: Problem, thrown: unknown): OpenAiError {
  const provider = thrown instanceof TallyError ? providerWords(thrown.cause) : null;
  return {
    message: problem.detail,
    type: provider?.type ?? typeOf(problem.status),
    param: problem.field ?? null,
    code: provider?.code ?? CODES[problem.code] ?? problem.code,
  };
}

export function openAiErrorOf(error: TallyError): OpenAiError {
  const { status } = errorTable[error.code];
  return {
    message: error.message,
    type: typeOf(status),
    param: error.field ?? null,
    code: CODES[error.code] ?? error.code,
  };
}

function providerWords(cause: unknown): { type: string | null; code: string | null } | null {
  if (!(cause instanceof ProviderError) || cause.error === null) return null;
  const { type, code } = cause.error;
  return { type: typeof type === 'string' ? type : null, code: typeof code === 'string' ? code : null };
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 402) return 'insufficient_quota';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
