import type { Correction } from '../corrections/correction-shape.ts';
import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalize } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';
import type { SessionCall } from '../sessions/session-call.ts';
import { formatTimestamp } from '../time.ts';
import { type Family, SCHEMA_VERSION, signerOf, withoutUnsigned } from './family.ts';
import { namedSettlement } from './named-settlement.ts';
import type { Issuance } from './profiles/profile.ts';
import { standard, standardForm } from './profiles/standard.ts';
import {
  boolean,
  bytes32,
  constant,
  did,
  type Infer,
  keyId,
  nullable,
  object,
  receiptIdOf,
  sha256Text,
  signature,
  text,
  timestamp,
} from './shape.ts';
import { assertSize } from './size.ts';

const ENVELOPE_VERSION = 'svc-receipt-v1';

/** The profile of every envelope. */
export const ENVELOPE_PROFILE = standardForm.name;

/** The facts of an envelope (specification 2.7). Unknown facts are null. Hashes are `sha256:<64 hex>`. */
export type EnvelopeFacts = {
  readonly request: {
    readonly hash: string | null;
    readonly origin: string | null;
    readonly purpose: string | null;
    readonly policy_hash: string | null;
  };
  readonly operator: {
    readonly entity: string | null;
    readonly region: string | null;
    readonly training_region: string | null;
  };
  /** Paths of the members that the caller declared and the issuer did not check. */
  readonly declared?: readonly string[];
  readonly hardware: { readonly class: string | null; readonly attestation: string | null };
  readonly response: { readonly hash: string | null; readonly sealed: boolean | null };
  readonly settlement: {
    readonly chain: string | null;
    readonly asset: string | null;
    readonly tx: string | null;
    /** Amount as decimal text, in the asset. */
    readonly amount?: string;
    /** The kind of account that paid. */
    readonly account?: string;
    /** Address that paid an x402 payment. */
    readonly payer?: string;
    /** Id of the x402 payment. */
    readonly payment?: string;
    /** Id of the receipt whose delivery is settled, if this receipt is about that settlement alone. */
    readonly receipt_id?: string;
  };
  /** An inference call (spec/compute.md), a step of a session (spec/sessions.md), or a correction (spec/corrections.md). */
  readonly call?: InferenceCall | SessionCall | Correction;
};

/** Members of an inference call. */
type InferenceCall = {
  readonly provider: string;
  readonly model: string;
  readonly requested_model: string;
  readonly stream: boolean;
  readonly complete: boolean;
  readonly agent_proved: boolean;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly usage_estimated: boolean;
  /** Tokens of the prompt's texts before compression; `saving` is what it saved, in the asset. */
  readonly tokens_before?: number;
  readonly tokens_after?: number;
  readonly saving?: string;
};

/** A recorder that signs with its own key has no DID of an issuer. */
type EnvelopeIssuance = Omit<Issuance, 'issuerDid'> & { readonly issuerDid: string | null };

/**
 * Mints an envelope, signed by the service.
 * @returns the JCS text of the receipt
 * @throws receipt_too_large when it would pass 3,072 bytes once both counter-signatures are added
 */
export async function mintEnvelope(
  facts: EnvelopeFacts,
  issuance: EnvelopeIssuance,
  signer: Signer,
): Promise<string> {
  // The members are in the order of JCS, so that they need no sorting.
  const unsigned: JsonObject = {
    ...(facts.call !== undefined && { call: facts.call as JsonObject }),
    ...(facts.declared !== undefined && { declared: [...facts.declared] }),
    hardware: facts.hardware,
    issued_at: formatTimestamp(issuance.issuedAt),
    ...(issuance.issuerDid !== null && { issuer_did: issuance.issuerDid }),
    issuer_pubkey: toBase64url(signer.publicKey),
    issuer_verified: issuance.issuerVerified,
    key_id: signer.keyId,
    operator: facts.operator,
    receipt_id: issuance.receiptId,
    receipt_profile: standardForm.name,
    receipt_schema_version: SCHEMA_VERSION,
    request: facts.request,
    response: facts.response,
    settlement: facts.settlement,
  };
  // `signatures` and `v` sort behind every other member, so that one canonical text serves both documents.
  const before = canonicalize(unsigned).slice(0, -1);
  const after = `,"v":"${ENVELOPE_VERSION}"}`;
  const svc = toBase64url(await signer.sign(utf8(before + after)));
  const receipt = `${before},"signatures":${canonicalize({ operator: null, requester: null, svc })}${after}`;
  assertSize(LIMIT, receipt, { reserve: 2 * COUNTER_SIGNATURE_GROWTH });
  return receipt;
}

const LIMIT = { ...standard, remedy: 'Shorten the texts that you gave (DID, purpose).' };

/** What a counter-signature adds to the JCS text: 86 characters in quotes in place of `null`. */
const COUNTER_SIGNATURE_GROWTH = 84;

const envelopeShape = object(
  {
    v: constant(ENVELOPE_VERSION),
    receipt_profile: constant(standardForm.name),
    receipt_schema_version: constant(SCHEMA_VERSION),
    receipt_id: receiptIdOf('env'),
    request: object({
      hash: nullable(sha256Text),
      origin: nullable(did),
      purpose: nullable(text),
      policy_hash: nullable(sha256Text),
    }),
    operator: object({ entity: nullable(did), region: nullable(text), training_region: nullable(text) }),
    hardware: object({ class: nullable(text), attestation: nullable(text) }),
    response: object({ hash: nullable(sha256Text), sealed: nullable(boolean) }),
    settlement: object({ chain: nullable(text), asset: nullable(text), tx: nullable(text) }),
    signatures: object(
      { requester: nullable(signature), operator: nullable(signature), svc: signature },
      { closed: true },
    ),
    issued_at: timestamp,
    key_id: keyId,
    issuer_pubkey: bytes32,
    issuer_verified: boolean,
  },
  { optional: { issuer_did: did } },
);

export const envelope: Family<Infer<typeof envelopeShape>> = {
  name: 'envelope',
  recognises: (document) => document.v === ENVELOPE_VERSION,
  shape: envelopeShape,
  claims: (document) => ({
    receiptId: document.receipt_id,
    profile: document.receipt_profile,
    ...signerOf(document),
    signature: document.signatures.svc,
    maxBytes: standardForm.maxBytes,
  }),
  signed(document) {
    const { signatures: _signatures, ...signed } = withoutUnsigned(document);
    return signed;
  },
  signatureMembers: ({ signatures }) => ({ signatures: signatures ?? null }),
  anchored(document) {
    const { svc } = document.signatures;
    return { ...withoutUnsigned(document), signatures: { requester: null, operator: null, svc } };
  },
  counterSignatures({ request, operator, signatures }) {
    return [
      { role: 'requester', did: request.origin, signature: signatures.requester },
      { role: 'operator', did: operator.entity, signature: signatures.operator },
    ];
  },
  settlement({ settlement: { chain, asset, ...rest } }) {
    const { tx, amount, payer }: JsonObject = rest;
    // CAIP-2.
    const id = /^eip155:([1-9]\d{0,14})$/.exec(chain ?? '')?.[1];
    return namedSettlement({ chainId: id === undefined ? null : Number(id), asset, tx, amount, payer });
  },
};
