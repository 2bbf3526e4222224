import { TallyError } from '@tallystick/core';
import { factsOf, openAiError } from '@tallystick/kit';
import type { Answer } from './answer.ts';
import { corsHeaders } from './cors.ts';
import { problemAnswer, publicError, toProblem } from './problem.ts';

/** The request that a refusal answers. */
interface Refused {
  /** Its path, with or without a query. */
  readonly path: string;
  readonly requestId: string;
  readonly receiptsUrl: string;
}

/** Prefix of the paths that OpenAI's clients call. */
const OPENAI_PATHS = '/v1/compute/';

/** Whether errors at a path have OpenAI's form too. */
export function answersAsOpenAi(path: string): boolean {
  return path.startsWith(OPENAI_PATHS);
}

/** The problem document of an error; under `/v1/compute/` also in OpenAI's form. */
export function refusal(thrown: unknown, { path, requestId, receiptsUrl }: Refused): Answer {
  const problem = toProblem(thrown, { receiptsUrl, requestId });
  const answer = problemAnswer(
    answersAsOpenAi(path)
      ? { ...problem, error: openAiError(publicError(thrown), factsOf(thrown).providerWords) }
      : problem,
  );
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
