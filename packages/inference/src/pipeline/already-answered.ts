import { TallyError } from '@tallystick/core';

/**
 * The refusal to repeat a stream, which is not kept.
 * @param receipt of the stream that came first, JCS text
 */
export function alreadyAnswered(receipt: string): TallyError {
  const { receipt_id: id } = JSON.parse(receipt) as { receipt_id: string };
  return new TallyError(
    'already_answered',
    `This Idempotency-Key had its stream, which is not kept; its receipt is /v1/receipt/${id}. Send a fresh key to ask again.`,
  );
}
