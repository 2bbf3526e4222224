import type { Dimensions } from '../catalogue/catalogue.ts';
import type { CandidateRecord, RouteInputs } from './record.ts';

/** Whether a model gives vectors of a length where they are asked for. */
export function gives({ default: most, shorter }: Dimensions, length: number): boolean {
  if (length === most) return true;
  return shorter === 'any' ? length < most : shorter.includes(length);
}

/**
 * Whether two models answer a call with vectors of one length; true of a call for anything but embeddings. Where the
 * catalogue does not say the length, they may differ.
 */
export function sameLength(
  one: CandidateRecord,
  other: CandidateRecord,
  { dimensions }: Pick<RouteInputs, 'dimensions'>,
): boolean {
  if (dimensions !== null) return true;
  const length = one.dimensions?.default;
  return length !== undefined && length === other.dimensions?.default;
}
