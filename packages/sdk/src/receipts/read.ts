import { copyJson, type JsonValue, parseJson, utf8 } from '@tallystick/core';

/** A receipt that a caller has: its text, its bytes, or the document. */
export type ReceiptInput = string | Uint8Array | object;

/** Parses a receipt. @throws json_* for text that is not I-JSON (RFC 7493), or a value that is not plain JSON */
export function readReceipt(receipt: ReceiptInput): JsonValue {
  if (typeof receipt === 'string') return parseJson(utf8(receipt));
  return receipt instanceof Uint8Array ? parseJson(receipt) : copyJson(receipt);
}
