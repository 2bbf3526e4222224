import { type ErrorCode, TallyError } from '@tallystick/core';

/** A refusal that passes with time: its answer carries `Retry-After` (RFC 9110, section 10.2.3). */
export class RetryLaterError extends TallyError {
  /** Whole, at least 1. */
  readonly seconds: number;

  /** @param options.seconds rounded up, so that who comes back then is not too early */
  constructor(
    code: ErrorCode,
    message: string,
    { seconds, ...options }: { readonly seconds: number; readonly field?: string; readonly cause?: unknown },
  ) {
    super(code, message, options);
    this.seconds = Math.max(1, Math.ceil(seconds));
  }
}

/** The headers that an error asks for. */
export function headersOf(thrown: unknown): Record<string, string> {
  return thrown instanceof RetryLaterError ? { 'retry-after': String(thrown.seconds) } : {};
}
