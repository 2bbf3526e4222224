import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import { formatTimestamp, secondsOf } from '../time.ts';
import { type Family, withoutUnsigned } from './family.ts';
import {
  bytes32,
  constant,
  did,
  hex64,
  integer,
  keyId,
  nullable,
  object,
  signature,
  timestamp,
} from './shape.ts';

const STATUS_TYPE = 'svc-status-v1';

const statusShape = object({
  type: constant(STATUS_TYPE),
  sequence: integer(1),
  previous_sha256: nullable(hex64),
  issued_at: timestamp,
  valid_until: timestamp,
  issuer_did: did,
  issuer_pubkey: bytes32,
  key_id: keyId,
  sig_b64u: signature,
});

/** The members that every status document has; what it reports is read by `readStatus`. */
export interface StatusDocument extends JsonObject {
  /** Number of the document, from 1, one more with each. */
  sequence: number;
  /** `statusDigest` of the document before it; null of the first. */
  previous_sha256: string | null;
  issued_at: string;
  valid_until: string;
  issuer_did: string;
  issuer_pubkey: string;
  key_id: string;
  sig_b64u: string;
}

/** How a service says that its endpoints are, signed with a key that signs nothing else (spec/status.md). */
export const status: Family = {
  name: 'status',
  keyPurpose: 'status',
  recognises: (document) => document.type === STATUS_TYPE,
  shape: (document) => statusShape(document, ''),
  claims(document) {
    const { sequence, key_id, issuer_pubkey, issuer_did, issued_at, sig_b64u } = document as StatusDocument;
    return {
      receiptId: `status/${sequence}`,
      profile: 'status',
      keyId: key_id,
      issuerPublicKey: issuer_pubkey,
      issuerDid: issuer_did,
      issuerVerified: null,
      issuedAt: secondsOf(issued_at),
      signature: sig_b64u,
    };
  },
  signed(document) {
    const { sig_b64u: _signature, ...signed } = withoutUnsigned(document);
    return signed;
  },
  signatureMembers: ({ sig_b64u }) => ({ sig_b64u: sig_b64u ?? null }),
  anchored: withoutUnsigned,
  counterSignatures: () => [],
  rules: () => [],
};

/** Position of a document in its chain, and its signer. Times are Unix milliseconds. */
export interface StatusIssuance {
  readonly did: string;
  readonly sequence: number;
  readonly previousSha256: string | null;
  readonly issuedAt: number;
  readonly validUntil: number;
}

/**
 * Signs a status document.
 * @param content what it reports (spec/status.md): everything but what the issuance says
 * @returns its JCS text
 */
export async function signStatus(
  content: JsonObject,
  issuance: StatusIssuance,
  signer: Signer,
): Promise<string> {
  const body = copyJson({
    ...content,
    type: STATUS_TYPE,
    sequence: issuance.sequence,
    previous_sha256: issuance.previousSha256,
    issued_at: formatTimestamp(issuance.issuedAt),
    valid_until: formatTimestamp(issuance.validUntil),
    issuer_did: issuance.did,
    issuer_pubkey: toBase64url(signer.publicKey),
    key_id: signer.keyId,
  }) as JsonObject;
  const sig_b64u = toBase64url(await signer.sign(utf8(canonicalize(body))));
  return canonicalize({ ...body, sig_b64u });
}

/** SHA-256 over JCS of a status document without the unsigned members, as hex: what the next one names. */
export function statusDigest(document: JsonObject): string {
  return sha256Hex(canonicalBytes(withoutUnsigned(document)));
}
