import { TallyError } from '@tallystick/core';
import { factsOf } from '@tallystick/kit';
import type { Answer } from './answer.ts';
import { corsHeaders } from './cors.ts';
import type { Dialect } from './dialect.ts';
import { problemAnswer, publicError, toProblem } from './problem.ts';

/** The request that a refusal answers. */
interface Refused {
  /** What its client speaks, beside plain HTTP. */
  readonly dialect: Dialect | undefined;
  readonly requestId: string;
  readonly receiptsUrl: string;
}

/** The problem document of an error, also in the form of the dialect. */
export function refusal(thrown: unknown, { dialect, requestId, receiptsUrl }: Refused): Answer {
  const problem = toProblem(thrown, { receiptsUrl, requestId });
  const answer = problemAnswer({
    ...problem,
    ...dialect?.members(publicError(thrown), { words: factsOf(thrown).providerWords, requestId }),
  });
  // The rest of the body is not awaited, so the connection cannot carry another request.
  const timedOut = thrown instanceof TallyError && thrown.code === 'request_timeout';
  return timedOut ? { ...answer, headers: { connection: 'close' } } : answer;
}

/** Headers of every answer, whoever gives it. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { ...corsHeaders, 'x-content-type-options': 'nosniff', 'x-request-id': requestId };
}

const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The caller's `X-Request-Id` if it is well-formed, else a fresh UUID. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && SANE_REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
