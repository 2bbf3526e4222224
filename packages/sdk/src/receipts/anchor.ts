import { anchoredHash, fromHex, toBase64url } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';
import { type ReceiptInput, readReceipt } from './read.ts';

/** A hash that waits for the next batch (specification 2.9). */
export interface PendingAnchor {
  readonly anchor_ref: string;
  readonly batch_id: string;
  readonly eta_seconds: number;
}

/** A hash that is on the chain (specification 2.9). Hashes are `sha256:<hex>`. */
export interface AnchoredAnchor {
  readonly anchor_ref: string;
  readonly network: string;
  readonly block_height: number;
  readonly tx_hash: string;
  readonly merkle_root: string;
  readonly merkle_path: readonly string[];
  readonly verified_at: string;
}

/** Tell them apart by `batch_id`. */
export type Anchor = PendingAnchor | AnchoredAnchor;

/**
 * Has a receipt's hash anchored. Nothing else of the receipt is sent. The same receipt again has the same
 * place, so that trying again does no harm. Needs an API key.
 * @throws not_a_receipt, json_*; ServiceError
 */
export async function anchor(
  transport: Transport,
  receipt: ReceiptInput,
  call?: CallOptions,
): Promise<Anchor> {
  const canonical_sha256 = toBase64url(fromHex(anchoredHash(readReceipt(receipt)), 32));
  const { json } = await transport.post('/v1/anchor', { canonical_sha256 }, call);
  return json as unknown as Anchor;
}
