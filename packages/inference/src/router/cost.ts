import { TYPICAL_ANSWER } from '../learning/assumed.ts';
import { answerTokens } from './answer-tokens.ts';
import type { CandidateRecord, RouteInputs } from './record.ts';

const TOKENS_OF_PRICE = 1_000_000n;

/** The cost in nano-USDC, rounded up, of an answer of the expected length, if caller and model allow it. */
export function expectedCost(candidate: CandidateRecord, inputs: RouteInputs): bigint {
  const limit = inputs.max_output_tokens === 0 ? candidate.max_output : answerTokens(candidate, inputs);
  const answer = Math.min(candidate.expected_output ?? TYPICAL_ANSWER, limit);
  const sum =
    BigInt(candidate.input_price) * BigInt(inputs.prompt_tokens) +
    BigInt(candidate.output_price) * BigInt(answer);
  return (sum + TOKENS_OF_PRICE - 1n) / TOKENS_OF_PRICE;
}

const LEAST_WORTH = 500_000;
const DECADES_PER_STEP = 0.4;

/**
 * Lambda: the weight of a nano-USDC against quality. At 0 a right answer is worth 0.0005 USDC, at the default of 5 it
 * is 0.05 USDC, and so on by a factor of 10 for each 2.5; at 10 cost does not count.
 */
export function costWeight(costQuality: number): number {
  return costQuality >= 10 ? 0 : 1 / (LEAST_WORTH * 10 ** (DECADES_PER_STEP * costQuality));
}
