import type { JsonObject, JsonValue } from '../json/types.ts';
import { secondsOf } from '../time.ts';
import { type Family, SCHEMA_VERSION, withoutUnsigned } from './family.ts';
import { namedSettlement } from './settlement.ts';
import {
  boolean,
  bytes32,
  constant,
  did,
  hex64,
  integer,
  isObject,
  keyId,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  pattern,
  type Rule,
  signature,
  text,
  timestamp,
} from './shape.ts';

const reference = (kind: string): Rule =>
  object({
    id: pattern(new RegExp(`^r_${kind}_[0-9]{10,}_[0-9a-f]{12}$`), `r_${kind}_<seconds>_<12 hex>`),
    sig_b64u: signature,
    verify_uri: nonEmptyText,
  });

const nanoShape = object({
  profile: constant('nano'),
  v: constant(SCHEMA_VERSION),
  a: did,
  h: bytes32,
  t: nonEmptyText,
  ok: boolean,
  ts: integer(1_000_000_000),
  k: keyId,
  receipt: reference('nano'),
});

const common = {
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

const standardShape = object(
  { receipt_profile: constant('standard'), ...common, receipt: reference('standard') },
  { optional: { purpose: nullable(text) } },
);

const pqShape = object(
  {
    receipt_profile: constant('pq'),
    ...common,
    receipt: reference('pq'),
    crypto_agile_metadata: object({
      current_alg: constant('Ed25519'),
      signature_posture: nonEmptyText,
      envelope_posture: nonEmptyText,
    }),
    sealed_evidence_ref: nullable(text),
    pq_posture: nonEmptyText,
    auditor_verifier: boolean,
  },
  { optional: { purpose: nullable(text) } },
);

/** Older receipts (specification 9.3): the members that verifying needs, whatever else they carry. */
const legacyShape = object(
  {
    proof_tier: oneOf('standard', 'svc_pq'),
    key_id: keyId,
    issued_at: timestamp,
    receipt: object({ id: nonEmptyText, sig_b64u: signature }),
  },
  { optional: { issuer_did: did, issuer_pubkey: bytes32, issuer_verified: boolean } },
);

interface Referenced extends JsonObject {
  receipt: { id: string; sig_b64u: string };
}

interface Full extends Referenced {
  key_id: string;
  issued_at: string;
}

interface Paid extends Full {
  settlement_reference: { chain_id: number; asset: string; [member: string]: JsonValue };
}

interface Nano extends Referenced {
  k: string;
  ts: number;
}

/** Profiles and older receipts sign the same way: all but `receipt.sig_b64u` and the unsigned members. */
const signedByReference: Pick<
  Family,
  'signed' | 'signatureMembers' | 'anchored' | 'counterSignatures' | 'rules'
> = {
  signed(document) {
    const { sig_b64u: _signature, ...reference } = (document as Referenced).receipt;
    return { ...withoutUnsigned(document), receipt: reference };
  },
  signatureMembers: (document) => ({ sig_b64u: (document as Referenced).receipt.sig_b64u }),
  anchored: withoutUnsigned,
  counterSignatures: () => [],
  rules: () => [],
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function fullClaims(document: JsonObject, profile: unknown): ReturnType<Family['claims']> {
  const { receipt, key_id, issued_at } = document as Full;
  return {
    receiptId: receipt.id,
    profile: String(profile),
    keyId: key_id,
    issuerPublicKey: textOrNull(document.issuer_pubkey),
    issuerDid: textOrNull(document.issuer_did),
    issuerVerified: typeof document.issuer_verified === 'boolean' ? document.issuer_verified : null,
    issuedAt: secondsOf(issued_at),
    signature: receipt.sig_b64u,
  };
}

export const nanoReceipt: Family = {
  ...signedByReference,
  name: 'profile',
  recognises: (document) => document.profile === 'nano',
  shape: (document) => nanoShape(document, ''),
  claims(document) {
    const { receipt, k, ts } = document as Nano;
    return {
      receiptId: receipt.id,
      profile: 'nano',
      keyId: k,
      issuerPublicKey: null,
      issuerDid: null,
      issuerVerified: null,
      issuedAt: ts,
      signature: receipt.sig_b64u,
    };
  },
};

export const fullReceipt: Family = {
  ...signedByReference,
  name: 'profile',
  recognises: (document) => document.receipt_profile !== undefined && isObject(document.receipt),
  shape: (document) => (document.receipt_profile === 'pq' ? pqShape : standardShape)(document, ''),
  claims: (document) => fullClaims(document, document.receipt_profile),
  settlement(document) {
    const { status, chain_id, asset, tx, amount } = (document as Paid).settlement_reference;
    // What the caller has declared was checked by nobody, and says nothing of who was paid.
    return status === 'confirmed' ? namedSettlement({ chainId: chain_id, asset, tx, amount }) : null;
  },
};

export const legacyReceipt: Family = {
  ...signedByReference,
  name: 'legacy',
  recognises: (document) => document.proof_tier !== undefined && document.receipt_profile === undefined,
  shape: (document) => legacyShape(document, ''),
  claims: (document) => fullClaims(document, document.proof_tier),
};
