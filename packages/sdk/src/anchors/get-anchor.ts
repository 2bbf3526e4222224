import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import { readText } from '../methods/read.ts';
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
  const { json } = await transport.get<Anchor>(`/v1/anchor/${pathPart(anchorRef, 'anchorRef')}`, call);
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

/**
 * Returns the proof of an anchored hash as a C2SP tlog-proof, once a checkpoint covers the hash. Needs no key.
 * @param refOrHash an anchor reference, or what `anchor` takes
 * @throws not_a_receipt, json_*, invalid_base64url; ServiceError (anchor_not_found, anchor_pending)
 */
export async function getAnchorProof(
  transport: Transport,
  refOrHash: HashOrReceipt,
  call?: CallOptions,
): Promise<string> {
  const path = isAnchorRef(refOrHash)
    ? pathPart(refOrHash, 'anchorRef')
    : `by-hash/${canonicalSha256(refOrHash)}`;
  return readText(transport, `/v1/anchor/${path}`, call);
}

/**
 * Returns the COSE Receipt (RFC 9942) of an anchored hash, once a checkpoint covers the hash. Needs no key. `verifyForeign`
 * checks it, with the 32 bytes of the hash as entry.
 * @throws not_a_receipt, json_*, invalid_base64url; ServiceError (anchor_not_found)
 */
export async function getCoseReceipt(
  transport: Transport,
  refOrHash: HashOrReceipt,
  call?: CallOptions,
): Promise<Uint8Array> {
  const name = isAnchorRef(refOrHash) ? pathPart(refOrHash, 'anchorRef') : canonicalSha256(refOrHash);
  return transport.download(`/v1/anchor/${name}/receipt.cbor`, 'application/cose', call);
}

/** Whether it is an anchor reference, and not a hash or a receipt. */
export function isAnchorRef(refOrHash: HashOrReceipt): refOrHash is string {
  return typeof refOrHash === 'string' && refOrHash.startsWith('urn:');
}
