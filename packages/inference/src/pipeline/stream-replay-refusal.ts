import { TallyError } from '@tallystick/core';

/** The refusal to repeat a stream, which is not stored. @param receipt of the first stream, JCS text */
export function alreadyAnswered(receipt: string): TallyError {
  const { receipt_id: id } = JSON.parse(receipt) as { receipt_id: string };
  return new TallyError(
    'already_answered',
    `This Idempotency-Key was already answered with a stream, which is not kept. The receipt is at /v1/receipt/${id}. To ask again, send a fresh key.`,
  );
}
