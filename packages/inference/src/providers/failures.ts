import type { JsonObject } from '@tallystick/core';
import { asObject, asText } from './members.ts';
import { ProviderError, type ProviderErrorKind } from './provider.ts';

export const unreachable = (provider: string): ProviderError =>
  new ProviderError('unreachable', `${provider} can't be reached`);

export const cut = (provider: string): ProviderError =>
  new ProviderError('cut', `${provider} broke off its answer`);

export const badAnswer = (provider: string): ProviderError =>
  new ProviderError('bad_answer', `${provider} answered in an unexpected form`);

const maxTextLength = 1_000;

const kinds: Readonly<Record<number, ProviderErrorKind>> = {
  401: 'auth',
  402: 'auth',
  403: 'auth',
  404: 'gone',
  408: 'timeout',
  409: 'overloaded',
  410: 'gone',
  424: 'server',
  429: 'rate_limited',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

function kindOfStatus(status: number): ProviderErrorKind {
  if (status < 400) return 'bad_answer';
  return kinds[status] ?? (status < 500 ? 'refused' : 'server');
}

/**
 * A 404 is about the model, unless it blames another member of the request: otherwise a caller who names a missing file
 * could make the model unavailable to everybody. Some providers answer 400 for a model that they no longer have.
 */
function kindOf(status: number, error: JsonObject | null): ProviderErrorKind {
  const kind = kindOfStatus(status);
  const param = asText(error?.['param']) ?? 'model';
  if (kind === 'gone' && param !== 'model') return 'refused';
  return kind === 'refused' && goneCodes.has(asText(error?.['code']) ?? '') ? 'gone' : kind;
}

/** Codes about the operator's account, with whatever status: OpenAI answers 429 to the first, Gemini 400 to the second. */
const accountCodes: ReadonlySet<string> = new Set(['insufficient_quota', 'invalid_api_key']);

const goneCodes: ReadonlySet<string> = new Set(['model_not_found', 'model_decommissioned']);

/** A provider's answer when it does not serve a call. */
export interface Failure {
  readonly provider: string;
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  /**
   * The provider's own error, which may quote the operator's key, account or host: only that of a 4xx about the request
   * is passed on, with `secrets` removed. `retry_after_ms` in it stands in for the header.
   */
  readonly error?: JsonObject | null;
  readonly secrets?: readonly string[];
}

export function failed({ provider, status, retryAfterMs, error, secrets }: Failure): ProviderError {
  const code = asText(error?.['code']);
  const kind = accountCodes.has(code ?? '') ? 'auth' : kindOf(status, error ?? null);
  const told = error?.['retry_after_ms'];
  return new ProviderError(kind, `${provider} answered ${status}`, {
    status,
    retryAfterMs: retryAfterMs ?? (typeof told === 'number' ? told : undefined),
    error: kind === 'refused' && error ? publicError(error, secrets ?? []) : undefined,
  });
}

/**
 * The failure that a provider reports in a stream, or with a success, in OpenAI's `error` member, whose `code` may be a
 * status.
 */
export function failedWithin(provider: string, error: JsonObject, secrets: readonly string[]): ProviderError {
  const status = Number(error['status'] ?? error['code']);
  const known = Number.isSafeInteger(status) && status >= 400 && status < 600;
  return failed({ provider, status: known ? status : 500, error, secrets });
}

/** Only `{message, type, param, code}` of an OpenAI-compatible provider's error. */
function publicError(error: JsonObject, secrets: readonly string[]): JsonObject {
  const text = (name: string): string | null => {
    const value = error[name];
    return typeof value === 'string' ? scrub(value, secrets) : null;
  };
  return {
    message: text('message') ?? 'The provider refused the request.',
    type: text('type') ?? 'invalid_request_error',
    param: text('param'),
    code: text('code'),
  };
}

function scrub(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, maxTextLength)
    .toWellFormed();
}

/** The error in the body of a failed answer, in the form of OpenAI, Ollama and others. */
export function errorOf(body: JsonObject | null): JsonObject | null {
  const error = body?.['error'];
  return typeof error === 'string' ? { message: error } : asObject(error);
}

/**
 * How long the provider asks to wait: `retry-after-ms` or `Retry-After`, in seconds or as a date (RFC 9110, section
 * 10.2.3).
 * @param now milliseconds since 1970
 */
export function retryAfter(header: (name: string) => string | undefined, now: number): number | undefined {
  const milliseconds = duration(header('retry-after-ms'), 1);
  if (milliseconds !== undefined) return milliseconds;
  const text = header('retry-after');
  const seconds = duration(text, 1_000);
  if (seconds !== undefined || text === undefined) return seconds;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function duration(text: string | undefined, unit: number): number | undefined {
  return text !== undefined && /^\d{1,9}(\.\d{1,9})?$/.test(text)
    ? Math.ceil(Number(text) * unit)
    : undefined;
}
