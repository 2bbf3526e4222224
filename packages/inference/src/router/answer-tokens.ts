import type { CandidateRecord, RouteInputs } from './record.ts';

/** The tokens of an answer that must fit beside the prompt; 0 if the caller sets no limit. */
export function answerTokens({ max_output }: CandidateRecord, { max_output_tokens }: RouteInputs): number {
  return Math.min(max_output, max_output_tokens);
}
