import type { Signer } from '../../ed25519/signer.ts';
import { toBase64url } from '../../encoding/base64url.ts';
import { toHex } from '../../encoding/hex.ts';
import type { JsonObject } from '../../json/types.ts';
import type { SealReference } from '../../seal.ts';
import { formatTimestamp } from '../../time.ts';
import { SCHEMA_VERSION, signerOf } from '../family.ts';
import { namedSettlement } from '../named-settlement.ts';
import {
  boolean,
  bytes32,
  constant,
  did,
  hex64,
  integer,
  isObject,
  keyId,
  type Members,
  nonEmptyText,
  nullable,
  object,
  text,
  timestamp,
} from '../shape.ts';
import type { Issuance, ProfileFacts, ProfileForm, Referenced } from './profile.ts';

/** The members that a full profile must have, beside `receipt_profile` and `receipt`. */
export const fullMembers = {
  receipt_schema_version: constant(SCHEMA_VERSION),
  agent_did: did,
  agent_proved: boolean,
  subject: object({ sha256: hex64, content_type: nonEmptyText, ok: boolean }),
  settlement_reference: object({ rail: nonEmptyText, chain_id: integer(0), asset: nonEmptyText }),
  seal: object(
    { sealed: boolean, declaration: nonEmptyText },
    { optional: { seal_id: nonEmptyText, ciphertext_sha256: hex64, key_commitment: hex64 } },
  ),
  reputation_context: object({ reputation_tier: nonEmptyText }),
  issued_at: timestamp,
  issuer_did: did,
  issuer_pubkey: bytes32,
  issuer_verified: boolean,
  key_id: keyId,
} as const;

export const fullOptions = { optional: { purpose: nullable(text) } };

type FullMembers = Members<typeof fullMembers, typeof fullOptions.optional>;

/** Returns whether a document says that it has a full profile, even if the profile is not known. */
export const isFull = ({ receipt_profile, receipt }: JsonObject): boolean =>
  receipt_profile !== undefined && isObject(receipt);

/** The parts of the verifier that are the same for all full profiles. */
export const fullForm = <const Name extends string>(
  name: Name,
): Omit<ProfileForm<Name, FullMembers & Referenced>, 'maxBytes' | 'shape'> => ({
  name,
  recognises: (document) => document.receipt_profile === name && isFull(document),
  signer: signerOf,
  settlement({ settlement_reference: { chain_id, asset, ...rest } }) {
    const { status, tx, amount }: JsonObject = rest;
    // What the caller only declared was not checked, so it does not prove who was paid.
    return status === 'confirmed' ? namedSettlement({ chainId: chain_id, asset, tx, amount }) : null;
  },
});

const SEALED = 'The subject is sealed with AES-256-GCM; ciphertext_sha256 commits to the ciphertext.';
const NOT_SEALED = 'The subject is not sealed; only its SHA-256 is in this receipt.';

/** The members that every full profile has, beside `receipt_profile`. */
export function fullBody(facts: ProfileFacts, issuance: Issuance, signer: Signer) {
  const { subject, seal } = facts;
  return {
    receipt_schema_version: SCHEMA_VERSION,
    agent_did: facts.agentDid,
    agent_proved: facts.agentProved,
    /** `sha256` is 64 hex. */
    subject: { sha256: toHex(subject.sha256), content_type: subject.contentType, ok: subject.ok },
    purpose: facts.purpose,
    settlement_reference: { ...facts.settlement },
    seal: sealOf(seal),
    reputation_context: { reputation_tier: facts.reputationTier },
    /** `YYYY-MM-DDThh:mm:ss[.f]Z`. */
    issued_at: formatTimestamp(issuance.issuedAt),
    issuer_did: issuance.issuerDid,
    /** base64url, 32 bytes. */
    issuer_pubkey: toBase64url(signer.publicKey),
    issuer_verified: issuance.issuerVerified,
    key_id: signer.keyId,
  } as const satisfies FullMembers;
}

function sealOf(
  seal: SealReference | null,
): { readonly sealed: boolean; readonly declaration: string } & Partial<SealReference> {
  return seal === null
    ? { sealed: false, declaration: NOT_SEALED }
    : { sealed: true, declaration: SEALED, ...seal };
}
