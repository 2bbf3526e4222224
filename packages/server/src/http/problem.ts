import { type ErrorCode, errorTable, type JsonObject, TallyError } from '@tallystick/core';
import { factsOf, type OpenAiError } from '@tallystick/kit';
import type { Answer } from './answer.ts';

/** A problem document (RFC 9457, section 3.1) with the members that every error of this service has. */
export interface Problem {
  /** `<receipts URL>/docs/errors#<code>`: a page that explains the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  /** The offending member of the request: `purpose`, `receipts[3].ts`. */
  readonly field?: string;
  /** The same in OpenAI's form, under `/v1/compute/`. */
  readonly error?: OpenAiError;
  /** How to pay: what `PAYMENT-REQUIRED` carries. */
  readonly payment?: JsonObject;
  /** `urn:request:<id>`, the id being the one in `X-Request-Id`. */
  readonly instance?: string;
}

/**
 * The public face of whatever was thrown. Anything but a TallyError is answered as `internal`, with nothing
 * of what it says; see `isFault` for what the log must keep.
 */
export function toProblem(thrown: unknown, docs: { receiptsUrl: string; requestId?: string }): Problem {
  const error = publicError(thrown);
  const { status, title } = errorTable[error.code];
  const { payment } = factsOf(error);
  return {
    type: `${docs.receiptsUrl}/docs/errors#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(payment !== undefined && { payment }),
    ...(docs.requestId === undefined ? {} : { instance: `urn:request:${docs.requestId}` }),
  };
}

/** What was thrown where it is ours to show, else `internal`. */
export function publicError(thrown: unknown): TallyError {
  return thrown instanceof TallyError ? thrown : unexpected;
}

const unexpected = new TallyError(
  'internal',
  'The fault is not in the request. Try again; if it persists, send the operator the value of X-Request-Id.',
);

/** Whether the service is to blame: a 5xx, or anything that was thrown without a code. */
export function isFault(thrown: unknown): boolean {
  return !(thrown instanceof TallyError) || errorTable[thrown.code].status >= 500;
}

export function problemAnswer(problem: Problem): Answer {
  return { status: problem.status, body: JSON.stringify(problem), contentType: 'application/problem+json' };
}
