import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { envelope } from '../receipts/envelope.ts';
import { isObject, requireShape } from '../receipts/shape.ts';
import { type SessionCall, sessionCallShapeOf } from './session-call.ts';

/** What a receipt of a session says of its place. */
export interface SessionReceipt {
  readonly receipt_id: string;
  readonly issued_at: string;
  readonly call: SessionCall;
  /** Salted hash of a tool's arguments; null if there are none. */
  readonly request_hash: string | null;
  /** `sha256:<hex>`, its anchored hash. */
  readonly hash: string;
  /** The key that signed it: 32 bytes in base64url. */
  readonly public_key: string;
}

/**
 * Reads a receipt of a session, without verifying it.
 * @param text one line of a session's file
 * @throws json_*, not_a_receipt
 */
export function readSessionReceipt(text: string): SessionReceipt {
  const receipt = requireShape(envelope.shape, parseJson(utf8(text)) as JsonObject, 'not_a_receipt');
  const call = callOf(receipt);
  if (call === null) throw new TallyError('not_a_receipt', 'The receipt is not of a session.');
  return {
    receipt_id: receipt.receipt_id,
    issued_at: receipt.issued_at,
    call,
    request_hash: receipt.request.hash,
    hash: `sha256:${sha256Hex(canonicalBytes(envelope.anchored(receipt)))}`,
    public_key: receipt.issuer_pubkey,
  };
}

/** The member `call` of a receipt of a session; null if it is of none. */
export function callOf({ call }: JsonObject): SessionCall | null {
  if (!isObject(call)) return null;
  const shape = sessionCallShapeOf(call);
  return shape !== null && shape(call, 'call') === null ? (call as JsonObject & SessionCall) : null;
}
