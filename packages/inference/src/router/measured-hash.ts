import { canonicalBytes, sha256Hex } from '@tallystick/core';
import type { CandidateRecord } from './record.ts';

/** What a candidate's record says of earlier calls of the model. */
export type MeasuredRecord = Pick<
  CandidateRecord,
  'expected_output' | 'first_token_ms' | 'tokens_per_second'
>;

/**
 * SHA-256, in hex, of the canonical JSON of a list with `[model, expected_output, first_token_ms, tokens_per_second]`
 * for each candidate, in their order, with null for what is absent. Null where all of it is absent.
 */
export function measuredHash(
  candidates: readonly (Pick<CandidateRecord, 'model'> & MeasuredRecord)[],
): string | null {
  const rows = candidates.map((one) => [
    one.model,
    one.expected_output ?? null,
    one.first_token_ms ?? null,
    one.tokens_per_second ?? null,
  ]);
  const isEmpty = rows.every(([, ...values]) => values.every((value) => value === null));
  return isEmpty ? null : sha256Hex(canonicalBytes(rows));
}

/** SHA-256, in hex, of the canonical JSON of a list with `[model, count, score]` for each candidate; null where it has no ratings. */
export function ratingsHash(candidates: readonly Pick<CandidateRecord, 'model' | 'ratings'>[]): string {
  const rows = candidates.map(({ model, ratings }) => [
    model,
    ratings?.count ?? null,
    ratings?.score ?? null,
  ]);
  return sha256Hex(canonicalBytes(rows));
}
