import { SCHEMA_VERSION } from '@tallystick/core';
import { type Answer, text } from '../http/answer.ts';
import type { Minted } from '../receipts/mint.ts';
import type { ReceiptRow } from '../store/store.ts';

/** Request headers of every route that mints, for the reference. */
export const MINT_HEADERS = {
  'Idempotency-Key': 'Repeating a request with the same key and body gives the same receipt, for 72 hours.',
  'X-Agent-DID': 'The DID of the calling agent.',
};

/** Headers that come with every receipt, for the reference. */
export const RECEIPT_HEADERS = {
  'X-Receipt-Profile': 'The profile of the receipt.',
  'X-Receipt-Schema-Version': `Always ${SCHEMA_VERSION}.`,
};

/** A receipt as it was minted, or as it was answered to an earlier request. */
export function mintedAnswer({ receipt, replayed }: Minted, profile: ReceiptRow['profile']): Answer {
  return text(receipt, 'application/json', {
    headers: {
      'x-receipt-profile': profile,
      'x-receipt-schema-version': SCHEMA_VERSION,
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
  });
}
