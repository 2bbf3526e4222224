import type { CallOptions, Transport } from '../http/transport.ts';
import type { Anchor } from './anchor.ts';
import { canonicalSha256, type HashOrReceipt } from './hash.ts';

/**
 * Returns the current state of a reference, pending or anchored. Needs no key. @throws ServiceError
 * (anchor_not_found, anchor_ref_invalid)
 */
export async function getAnchor(
  transport: Transport,
  anchorRef: string,
  call?: CallOptions,
): Promise<Anchor> {
  const { json } = await transport.get<Anchor>(`/v1/anchor/${encodeURIComponent(anchorRef)}`, call);
  return json;
}

/**
 * Returns the current state of a hash, or of a receipt's hash, whoever anchored it. Needs no key.
 * @throws not_a_receipt, json_*, invalid_base64url; ServiceError (anchor_not_found)
 */
export async function getAnchorByHash(
  transport: Transport,
  hashOrReceipt: HashOrReceipt,
  call?: CallOptions,
): Promise<Anchor> {
  const { json } = await transport.get<Anchor>(`/v1/anchor/by-hash/${canonicalSha256(hashOrReceipt)}`, call);
  return json;
}
