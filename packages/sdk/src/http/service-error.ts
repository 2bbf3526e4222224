import {
  type ErrorCode,
  errorTable,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  TallyError,
} from '@tallystick/core';
import type { WebResponse } from './platform.ts';

/** Details of a failed exchange beyond the error's code. */
export interface ServiceErrorDetails {
  readonly field?: string | undefined;
  readonly cause?: unknown;
  /** HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** Seconds to wait that the service gave (RFC 9110, section 10.2.3); null if it gave none. */
  readonly retryAfter: number | null;
  /** Whether the service says that the same request will not succeed soon (`X-Should-Retry: false`); no when absent. */
  readonly final?: boolean | undefined;
  /** Request id to quote to the operator; null if the service sent none. */
  readonly requestId: string | null;
  /** Id of the receipt of a call that failed after it was billed (`X-Receipt-Id`); null when absent. */
  readonly receiptId?: string | null | undefined;
  /** The problem document (RFC 9457) as received; it may have a `code` that this version does not know. */
  readonly problem: JsonObject | null;
}

/**
 * Thrown when the service refuses a request, or can't be reached. `code` is the service's own; `unavailable`
 * if there was no answer in time, or the answer was not the service's.
 */
export class ServiceError extends TallyError {
  readonly status: number | null;
  readonly retryAfter: number | null;
  readonly final: boolean;
  readonly requestId: string | null;
  readonly receiptId: string | null;
  readonly problem: JsonObject | null;

  constructor(code: ErrorCode, message: string, details: ServiceErrorDetails) {
    super(code, message, { field: details.field, cause: details.cause });
    this.status = details.status;
    this.retryAfter = details.retryAfter;
    this.final = details.final ?? false;
    this.requestId = details.requestId;
    this.receiptId = details.receiptId ?? null;
    this.problem = details.problem;
  }
}

/** The error for a request without an answer; `timeoutMs` is the timeout that ended it, or null. */
export function unreached(url: string, cause: unknown, timeoutMs: number | null): ServiceError {
  const message =
    timeoutMs === null ? `Nothing answers at ${url}.` : `${url} did not answer within ${timeoutMs} ms.`;
  return new ServiceError('unavailable', message, {
    cause,
    status: null,
    retryAfter: null,
    requestId: null,
    problem: null,
  });
}

/**
 * The error for an answer that is not 2xx, or whose body is not what the service answers with.
 * @param cause what is wrong with the body of a 2xx
 */
export function refused(
  url: string,
  response: WebResponse,
  body: Uint8Array,
  cause?: TallyError,
): ServiceError {
  const { status, headers } = response;
  const problem = problemIn(body);
  const details = {
    cause,
    status,
    retryAfter: retryAfterOf(headers),
    final: headers.get('x-should-retry') === 'false',
    requestId: headers.get('x-request-id'),
    receiptId: headers.get('x-receipt-id'),
    problem,
  };
  if (problem === null) {
    const location = headers.get('location');
    const where = location === null ? '' : ` It redirects to ${location}: give the service's own URL.`;
    const message = `${url} answered ${status} and does not look like Tallystick.${where}`;
    return new ServiceError(codeOf(status), message, details);
  }
  const { code, detail, field } = problem;
  const message = typeof detail === 'string' ? detail : `The service answered ${status}.`;
  const known = typeof code === 'string' && Object.hasOwn(errorTable, code);
  return new ServiceError(known ? (code as ErrorCode) : codeOf(status), message, {
    ...details,
    field: typeof field === 'string' ? field : undefined,
  });
}

/** Chooses a code for an answer without a known one, from a proxy or from a newer service. */
function codeOf(status: number): ErrorCode {
  if (status === 404) return 'not_found';
  if (status === 413) return 'body_too_large';
  return status === 429 ? 'rate_limited' : 'unavailable';
}

function problemIn(body: Uint8Array): JsonObject | null {
  const document = parsed(body);
  return isObject(document) && typeof document.code === 'string' ? document : null;
}

function parsed(body: Uint8Array): JsonValue {
  try {
    return parseJson(body);
  } catch {
    return null;
  }
}

/** Reads `Retry-After`, a number of seconds or an HTTP date, as seconds from now. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
