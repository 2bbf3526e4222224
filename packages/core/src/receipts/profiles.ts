import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { toHex } from '../encoding/hex.ts';
import { canonicalize } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';
import type { SealReference } from '../seal.ts';
import { formatTimestamp } from '../time.ts';
import type { Issuance } from './envelope.ts';
import { SCHEMA_VERSION } from './family.ts';
import { assertSize } from './size.ts';

export const PROFILES = ['nano', 'standard', 'pq'] as const;
export type Profile = (typeof PROFILES)[number];

/** Subject of a profile receipt (specification 2.8). */
export interface Subject {
  /** SHA-256 of the payload: 32 bytes. */
  readonly sha256: Uint8Array;
  readonly contentType: string;
  readonly ok: boolean;
}

/** Settlement of a payment for the subject, and how far it is known. */
export interface SettlementReference {
  readonly rail: string;
  readonly chain_id: number;
  readonly asset: string;
  /** `none`: nothing was said; `declared`: the caller says so; `confirmed`: the transaction was checked. */
  readonly status: 'none' | 'declared' | 'confirmed';
  readonly tx: string | null;
  /** What the transaction moved: decimal text, in the asset. Only where it is `confirmed`. */
  readonly amount?: string;
}

export interface ProfileFacts {
  readonly agentDid: string;
  /** True only when the agent proved the DID with a signature of its key. */
  readonly agentProved: boolean;
  readonly subject: Subject;
  readonly verifyUri: string;
  readonly purpose: string | null;
  readonly settlement: SettlementReference;
  readonly seal: SealReference | null;
  readonly reputationTier: string;
  readonly sealedEvidenceRef: string | null;
  readonly auditorVerifier: boolean;
}

const SEALED = 'The subject is sealed with AES-256-GCM; ciphertext_sha256 commits to the ciphertext.';
const NOT_SEALED = 'The subject is not sealed; only its SHA-256 is in this receipt.';

const CRYPTO_AGILE = {
  current_alg: 'Ed25519',
  signature_posture: 'classical_only',
  envelope_posture: 'aes_256_gcm_when_sealed',
} as const;
const PQ_POSTURE = 'declared_not_post_quantum_signed';

/**
 * Emits a receipt of the chosen profile, signed by the service.
 * @returns the JCS text of the receipt
 * @throws receipt_too_large when nano would pass 600 bytes, standard 3,072 or pq 65,536
 */
export async function emitReceipt(
  profile: Profile,
  facts: ProfileFacts,
  issuance: Issuance,
  signer: Signer,
): Promise<string> {
  const body = profile === 'nano' ? nano(facts, issuance, signer) : full(profile, facts, issuance, signer);
  const reference = { id: issuance.receiptId, verify_uri: facts.verifyUri };
  const sig_b64u = toBase64url(await signer.sign(utf8(canonicalize({ ...body, receipt: reference }))));
  const receipt = canonicalize({ ...body, receipt: { ...reference, sig_b64u } });
  assertSize(profile, receipt);
  return receipt;
}

function nano({ agentDid, subject }: ProfileFacts, issuance: Issuance, signer: Signer): JsonObject {
  return {
    profile: 'nano',
    v: SCHEMA_VERSION,
    a: agentDid,
    h: toBase64url(subject.sha256),
    t: subject.contentType,
    ok: subject.ok,
    ts: Math.floor(issuance.issuedAt / 1000),
    k: signer.keyId,
  };
}

function full(
  profile: 'standard' | 'pq',
  facts: ProfileFacts,
  issuance: Issuance,
  signer: Signer,
): JsonObject {
  const { subject, seal } = facts;
  const standard: JsonObject = {
    receipt_profile: profile,
    receipt_schema_version: SCHEMA_VERSION,
    agent_did: facts.agentDid,
    agent_proved: facts.agentProved,
    subject: { sha256: toHex(subject.sha256), content_type: subject.contentType, ok: subject.ok },
    purpose: facts.purpose,
    settlement_reference: { ...facts.settlement },
    seal:
      seal === null
        ? { sealed: false, declaration: NOT_SEALED }
        : { sealed: true, declaration: SEALED, ...seal },
    reputation_context: { reputation_tier: facts.reputationTier },
    issued_at: formatTimestamp(issuance.issuedAt),
    issuer_did: issuance.issuerDid,
    issuer_pubkey: toBase64url(signer.publicKey),
    issuer_verified: issuance.issuerVerified,
    key_id: signer.keyId,
  };
  if (profile === 'standard') return standard;
  return {
    ...standard,
    crypto_agile_metadata: CRYPTO_AGILE,
    sealed_evidence_ref: facts.sealedEvidenceRef,
    pq_posture: PQ_POSTURE,
    auditor_verifier: facts.auditorVerifier,
  };
}
