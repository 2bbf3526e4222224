import type { CorrectionVerdict } from './verify-corrections.ts';

/** One sentence or more that say what follows from a correction. */
export function correctionText({ receipt_id: id, valid, ...rest }: CorrectionVerdict): string {
  const { corrects, correction, reason, faults } = rest;
  const [first, second] = [corrects.receipt_id, correction.receipt_id];
  if (!valid) return `${id} corrects nothing: ${faults.join(' ')}`;
  const missing = [corrects, correction].filter(({ state }) => state === 'not_given');
  const given = missing.length === 0 ? '' : ` Not given: ${missing.map((one) => one.receipt_id).join(', ')}.`;
  const why = reason === null ? '' : ` Reason: ${reason}`;
  return `${second} corrects ${first}, which is superseded and proves what it proved (${id}).${given}${why}`;
}
