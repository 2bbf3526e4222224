import { toBase64url } from '../encoding/base64url.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';

/** The algorithm of the second signature of pq receipts (FIPS 204). */
export const PQ_ALGORITHM = 'ML-DSA-65';

/** What a receipt with the second signature says in `pq_posture`. */
export const PQ_SIGNED = 'ml_dsa_65_signed_experimental';

/** What a receipt says in `pq_posture` and in `signature_posture` if it has the second signature, or has none. */
export const posturesOf = (pqSigned: boolean): readonly [pq: string, signature: string] =>
  pqSigned
    ? [PQ_SIGNED, 'ed25519_and_ml_dsa_65_experimental']
    : ['declared_not_post_quantum_signed', 'classical_only'];

/** Member `pq_signature` of a receipt: the experimental second signature, which the first one covers too. */
export type PqSignature = {
  readonly alg: string;
  /** `sha256:<hex>` of the public key. */
  readonly key_id: string;
  /** base64url; 3,309 bytes for ML-DSA-65. */
  readonly sig_b64u: string;
};

/** A key for second signatures. */
export interface PqSigner {
  /** As `pqKeyId` gives it. */
  readonly keyId: string;
  /** Returns the pure ML-DSA-65 signature with the empty context: 3,309 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** Id of a public key: `sha256:<hex>` of its bytes. */
export function pqKeyId(publicKey: Uint8Array): string {
  return `sha256:${sha256Hex(publicKey)}`;
}

/** Signs a receipt that has neither signature yet. */
export async function signPq(unsigned: JsonObject, signer: PqSigner): Promise<PqSignature> {
  const signature = await signer.sign(canonicalBytes(unsigned));
  return { alg: PQ_ALGORITHM, key_id: signer.keyId, sig_b64u: toBase64url(signature) };
}
