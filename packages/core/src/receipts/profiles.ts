import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalize } from '../json/canonical.ts';
import { type PqSigner, signPq } from '../ml-dsa/pq-signature.ts';
import type { Issuance, ProfileFacts } from './profiles/profile.ts';
import type { Profile } from './profiles/registry.ts';
import { profileNamed } from './profiles/terms.ts';
import { assertSize } from './size.ts';

/**
 * Emits a receipt of the chosen profile, signed by the service.
 * @param pq makes the second, experimental signature of a profile that has one
 * @returns the JCS text of the receipt
 * @throws receipt_too_large when it would pass what the profile allows (`maxEmitted`)
 */
export async function emitReceipt(
  name: Profile,
  facts: ProfileFacts,
  issuance: Issuance,
  signer: Signer,
  pq: PqSigner | null = null,
): Promise<string> {
  const profile = profileNamed(name);
  const second = profile.pqSigned === true ? pq : null;
  const reference = { id: issuance.receiptId, verify_uri: facts.verifyUri };
  const contents = { ...profile.body(facts, issuance, signer, second !== null), receipt: reference };
  const signed = second === null ? contents : { ...contents, pq_signature: await signPq(contents, second) };
  const sig_b64u = toBase64url(await signer.sign(utf8(canonicalize(signed))));
  const receipt = canonicalize({ ...signed, receipt: { ...reference, sig_b64u } });
  assertSize(profile, receipt);
  return receipt;
}
