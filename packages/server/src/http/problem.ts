import { type ErrorCode, errorTable, type JsonObject, TallyError } from '@tallystick/core';
import { type AnthropicError, factsOf, type OpenAiError } from '@tallystick/kit';
import type { Answer } from './answer.ts';

/** A problem document (RFC 9457, section 3.1) with the members of this service's errors. */
export interface Problem {
  /** `<receipts URL>/docs/errors#<code>`: a page that explains the code. `error` where Anthropic's API is spoken. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  /** The offending member of the request: `purpose`, `receipts[3].ts`. */
  readonly field?: string;
  /** The same error in OpenAI's form, under `/v1/compute/`; in Anthropic's, where that API is spoken. */
  readonly error?: OpenAiError | AnthropicError;
  /** The id of `X-Request-Id`, where Anthropic's API is spoken. */
  readonly request_id?: string;
  /** How to pay: the contents of `PAYMENT-REQUIRED`. */
  readonly payment?: JsonObject;
  /** Place of the session's next receipt: `{id, seq, prev}`. */
  readonly session?: JsonObject;
  /** `urn:request:<id>`, with the id of `X-Request-Id`. */
  readonly instance?: string;
}

/**
 * The public problem document of anything that was thrown. Anything but a TallyError becomes `internal`, with nothing
 * of its message; `isFault` says what must be logged.
 */
export function toProblem(thrown: unknown, docs: { receiptsUrl: string; requestId?: string }): Problem {
  const error = publicError(thrown);
  const { status, title } = errorTable[error.code];
  const { payment, session } = factsOf(error);
  return {
    type: `${docs.receiptsUrl}/docs/errors#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(payment !== undefined && { payment }),
    ...(session !== undefined && { session }),
    ...(docs.requestId === undefined ? {} : { instance: `urn:request:${docs.requestId}` }),
  };
}

/** The error itself if it may be shown, else `internal`. */
export function publicError(thrown: unknown): TallyError {
  return thrown instanceof TallyError ? thrown : unexpected;
}

const unexpected = new TallyError(
  'internal',
  'The fault is not in the request. Try again; if it persists, send the operator the value of X-Request-Id.',
);

/** Whether the service is to blame: a 5xx, or an error without a code. */
export function isFault(thrown: unknown): boolean {
  return !(thrown instanceof TallyError) || errorTable[thrown.code].status >= 500;
}

export function problemAnswer(problem: Problem): Answer {
  return { status: problem.status, body: JSON.stringify(problem), contentType: 'application/problem+json' };
}
