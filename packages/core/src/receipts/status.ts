import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import { formatTimestamp } from '../time.ts';
import { type Family, signerOf, typedFamily, withoutUnsigned } from './family.ts';
import {
  bytes32,
  constant,
  did,
  hex64,
  type Infer,
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
  /** Number of the document: 1 for the first, one more for each that follows. */
  sequence: integer(1),
  /** `statusDigest` of the previous document; null in the first. */
  previous_sha256: nullable(hex64),
  issued_at: timestamp,
  valid_until: timestamp,
  issuer_did: did,
  issuer_pubkey: bytes32,
  key_id: keyId,
  sig_b64u: signature,
});

/** The members that every status document has. `readStatus` reads the report in it. */
export type StatusDocument = Infer<typeof statusShape>;

/** A service's report on its endpoints, signed with a key for nothing else (spec/status.md). */
export const status: Family<Infer<typeof statusShape>> = {
  ...typedFamily(STATUS_TYPE),
  name: 'status',
  keyPurpose: 'status',
  shape: statusShape,
  claims: (document) => ({
    ...signerOf(document),
    receiptId: `status/${document.sequence}`,
    profile: 'status',
    issuerVerified: null,
    signature: document.sig_b64u,
  }),
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
 * @param content the report (spec/status.md): all members but those of the issuance
 * @returns its JCS text
 */
export async function signStatus(content: object, issuance: StatusIssuance, signer: Signer): Promise<string> {
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

/** SHA-256 over the JCS of a status document without the unsigned members, as hex. The next document names it. */
export function statusDigest(document: JsonObject): string {
  return sha256Hex(canonicalBytes(withoutUnsigned(document)));
}
