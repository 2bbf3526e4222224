import { API_KEY_ERRORS } from '@tallystick/callers';
import { type ErrorCode, SCHEMA_VERSION } from '@tallystick/core';
import type { ReceiptRow } from '@tallystick/kit';
import type { Issued } from '@tallystick/receipts';
import { type Answer, text } from '../http/answer.ts';
import type { Services } from '../services.ts';

/** What every route that mints uses of the service. */
export type MintNeeds = Pick<
  Services,
  'config' | 'clock' | 'store' | 'issuer' | 'clients' | 'callers' | 'claims' | 'unstored' | 'log' | 'payments'
>;

/** Request headers of every route that mints, for the reference. */
export const MINT_HEADERS = {
  'Idempotency-Key': 'For 72 hours, repeating a request with the same key and body gives the same receipt.',
  'X-Agent-DID': 'The DID of the calling agent.',
  Authorization:
    "Optional: `Bearer` and an API key. The receipt names the key's tier and counts towards its monthly quota; with `anchor`, or with a Scale or Enterprise key, it is anchored.",
};

/** Headers that come with every receipt, for the reference. */
export const RECEIPT_HEADERS = {
  'X-Receipt-Profile': 'The profile of the receipt.',
  'X-Receipt-Schema-Version': `Always ${SCHEMA_VERSION}.`,
  'X-Anchor-Ref': 'Where it is anchored, or is to be; absent where it is not.',
};

/** Error codes of every route that mints. */
export const MINT_ERRORS = [
  ...API_KEY_ERRORS,
  'quota_exceeded',
  'anchor_unavailable',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_use',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/** The answer with a receipt that is new, or that an earlier request was answered with. */
export function receiptAnswerOf(
  { receipt, replayed, anchorRef }: Issued,
  profile: ReceiptRow['profile'],
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return text(receipt, 'application/json', {
    headers: {
      'x-receipt-profile': profile,
      'x-receipt-schema-version': SCHEMA_VERSION,
      ...(anchorRef === null ? {} : { 'x-anchor-ref': anchorRef }),
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
      ...headers,
    },
  });
}
