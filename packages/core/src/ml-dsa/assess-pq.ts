import { fromBase64url } from '../encoding/base64url.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { type Check, type Claims, check, failed, unchecked } from '../receipts/family.ts';
import { keyWindow } from '../trust/assess-issuer.ts';
import type { Trust } from '../trust/issuer.ts';
import { PQ_ALGORITHM, type PqSignature, pqKeyId } from './pq-signature.ts';

const NAME = 'pq_signature';

/**
 * Judges the ML-DSA signature of a receipt. Its key is looked up in what the verifier's trust says of the issuer.
 * @param given null if the receipt says otherwise than is so: that it has one and has none, or the reverse
 * @param signed the contents that the Ed25519 signature covers
 * @param anchoredAt Unix milliseconds at which the receipt is known to have existed
 * @returns the check of the signature, which counts for integrity; if it was made, also that of the key's window
 */
export async function assessPq(
  given: PqSignature | null,
  signed: JsonObject,
  claims: Claims,
  trust: Trust,
  anchoredAt: number | undefined,
): Promise<readonly Check[]> {
  if (given === null) return [failed(NAME, 'What its postures say of a signature is not so.')];
  const { alg, key_id, sig_b64u } = given;
  if (alg !== PQ_ALGORITHM) return [unchecked(NAME, `The algorithm ${alg} is not known here.`)];
  const issuer = claims.issuerDid === null ? undefined : trust.issuer(claims.issuerDid);
  const key = issuer?.pq_keys?.find((one) => one.key_id === key_id && one.alg === alg);
  if (key === undefined) return [unchecked(NAME, `The given trust does not list the ML-DSA key ${key_id}.`)];
  const publicKey = orNull(() => fromBase64url(key.public_key));
  if (publicKey === null || pqKeyId(publicKey) !== key_id)
    return [failed(NAME, `The public key of ${key_id} is another one than its id says.`)];
  const { pq_signature: _own, ...covered } = signed;
  const bytes = orNull(() => fromBase64url(sig_b64u)) ?? new Uint8Array();
  // Loaded when it is needed: few receipts have such a signature, and the code is large.
  const { ML_DSA_65, verifyMlDsa } = await import('./ml-dsa.ts');
  const signature = check(
    NAME,
    await verifyMlDsa(ML_DSA_65, publicKey, canonicalBytes(covered), bytes),
    "Experimental: the issuer's ML-DSA-65 signature covers exactly these contents.",
    'The ML-DSA-65 signature does not match: the contents were changed, or another key signed them.',
  );
  return [signature, { ...keyWindow(key, claims, anchoredAt), name: 'pq_key_window' }];
}
