import {
  canonicalBytes,
  createSigner,
  type IssuerKey,
  type IssuerRecord,
  type JsonObject,
  type JsonValue,
  type Signer,
  sha256Hex,
  toBase64url,
} from '../src/index.ts';

/** Unix milliseconds at which the samples are verified: 2026-06-01T12:00:00Z. */
export const NOW = 1_780_315_200_000;
/** Unix seconds at which they were issued, an hour earlier. */
export const ISSUED = NOW / 1000 - 3600;
export const ISSUED_AT = '2026-06-01T11:00:00Z';

export const KINDS = ['envelope', 'nano', 'standard', 'pq', 'metering', 'issue', 'legacy'] as const;
export type Kind = (typeof KINDS)[number];

export const signerOf = (seed: number): Promise<Signer> => createSigner(new Uint8Array(32).fill(seed));

export function keyOf(signer: Signer, changes: Partial<IssuerKey> = {}): IssuerKey {
  return {
    key_id: signer.keyId,
    public_key: toBase64url(signer.publicKey),
    purpose: 'receipt',
    state: 'active',
    valid_from: '2026-01-01T00:00:00Z',
    valid_until: null,
    revoked: null,
    ...changes,
  };
}

export function recordOf(did: string, ...keys: readonly IssuerKey[]): IssuerRecord {
  return { did, status: 'verified', keys };
}

const BOUNDARY =
  'This receipt records the machine service units metered for a stated window, the per-unit evidence behind ' +
  'them, and the fraction of the billed units that carries evidence. It does not prove the quality of the work ' +
  'or that the customer accepted it, and it does not settle payment.';

const hex = (digit: string): string => digit.repeat(64);

/** The members of a sample besides issuer, key and signature. */
function contents(kind: Kind): JsonObject {
  const id = `${ISSUED}_0123456789ab`;
  switch (kind) {
    case 'envelope':
      return {
        v: 'svc-receipt-v1',
        receipt_profile: 'standard',
        receipt_schema_version: 'r1.0.0',
        receipt_id: `r_env_${id}`,
        issued_at: ISSUED_AT,
        request: { hash: `sha256:${hex('a')}`, origin: null, purpose: 'a test', policy_hash: null },
        operator: { entity: null, region: 'eu-west', training_region: null },
        hardware: { class: null, attestation: null },
        response: { hash: null, sealed: false },
        settlement: { chain: null, asset: null, tx: null },
        signatures: { requester: null, operator: null },
      };
    case 'nano':
      return {
        profile: 'nano',
        v: 'r1.0.0',
        a: 'did:svc:anonymous',
        h: toBase64url(new Uint8Array(32).fill(7)),
        t: 'application/json',
        ok: true,
        ts: ISSUED,
        receipt: { id: `r_nano_${id}`, verify_uri: 'https://receipts.example.com/verify' },
      };
    case 'standard':
    case 'pq':
      return {
        receipt_profile: kind,
        receipt_schema_version: 'r1.0.0',
        agent_did: 'did:svc:anonymous',
        agent_proved: false,
        subject: { sha256: hex('b'), content_type: 'text/plain', ok: true },
        purpose: null,
        settlement_reference: { rail: 'x402', chain_id: 8453, asset: 'USDC', status: 'none', tx: null },
        seal: { sealed: false, declaration: 'Not sealed.' },
        reputation_context: { reputation_tier: 'unregistered' },
        issued_at: ISSUED_AT,
        receipt: { id: `r_${kind}_${id}`, verify_uri: 'https://receipts.example.com/verify' },
        ...(kind === 'pq' ? PQ : {}),
      };
    case 'metering':
      return { algorithm: 'Ed25519', signed_body: meteringBody() };
    case 'issue':
      return {
        type: 'svc-issue-v1',
        receipt_id: `r_issue_${id}`,
        symbol: 'USDC',
        units: 3,
        amount_usd: 12.5,
        recipient: '0x00000000000000000000000000000000000000aa',
        issued_at: ISSUED_AT,
      };
    case 'legacy':
      return {
        proof_tier: 'svc_pq',
        issued_at: ISSUED_AT,
        receipt: { id: 'old-1' },
        note: { any: ['thing', 1, 0.5] },
      };
  }
}

const PQ: JsonObject = {
  crypto_agile_metadata: {
    current_alg: 'Ed25519',
    signature_posture: 'classical_only',
    envelope_posture: 'aes_256_gcm_when_sealed',
  },
  sealed_evidence_ref: null,
  pq_posture: 'declared_not_post_quantum_signed',
  auditor_verifier: false,
};

/** A bill for 8 units, of which 5 have evidence; `changes` replace members, and `metering_id` follows. */
export function meteringBody(changes: JsonObject = {}): JsonObject {
  const body: JsonObject = {
    receipt_type: 'sls.metering',
    schema: 'r1.0.0',
    machine_commitment: hex('1'),
    customer_commitment: hex('2'),
    window_start: '2026-06-01T09:00:00Z',
    window_end: '2026-06-01T10:00:00.5Z',
    compiled_at: ISSUED_AT,
    service_unit: 'pick',
    metered: {
      billed_unit_count: 8,
      evidence_backed_unit_count: 5,
      unbacked_unit_count: 3,
      receipt_set_digest: hex('3'),
    },
    evidence_coverage_ratio: 0.625,
    coverage_class: 'majority_evidence_backed',
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
    amount_minor: 2000,
    evidence_backed_amount_minor: 1250,
    settlement_binding: { settlement_class: 'invoice_reference', settlement_commitment: hex('5') },
    verdict: 'metered_units_partially_evidence_backed',
    salt_commitment: hex('6'),
    boundary: BOUNDARY,
    ...changes,
  };
  const { machine_commitment, customer_commitment, service_unit, window_start, window_end } = body as Record<
    string,
    JsonValue
  >;
  const { receipt_set_digest } = body.metered as JsonObject as Record<string, JsonValue>;
  const bill = {
    machine_commitment,
    customer_commitment,
    service_unit,
    window_start,
    window_end,
    receipt_set_digest,
  };
  return { metering_id: `sm_${sha256Hex(canonicalBytes(bill as JsonObject)).slice(0, 32)}`, ...body };
}

export const UNSIGNED = ['anchor_ref', 'tier', 'anchor'] as const;

export function without(document: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));
}

/** The signed part of a document, written out from the specification of each family. */
function signedPart(kind: Kind, document: JsonObject): JsonObject {
  if (kind === 'metering') return document.signed_body as JsonObject;
  if (kind === 'envelope') return without(document, ...UNSIGNED, 'signatures');
  if (kind === 'issue') return without(document, ...UNSIGNED, 'sig_b64u');
  return { ...without(document, ...UNSIGNED), receipt: without(document.receipt as JsonObject, 'sig_b64u') };
}

/** The document with the signer's signature; a metering receipt also gets the members that follow from its signed body. */
export async function signAs(kind: Kind, document: JsonObject, signer: Signer): Promise<JsonObject> {
  const message = canonicalBytes(signedPart(kind, document));
  const signature = toBase64url(await signer.sign(message));
  if (kind === 'envelope')
    return { ...document, signatures: { ...(document.signatures as JsonObject), svc: signature } };
  if (kind === 'issue') return { ...document, sig_b64u: signature };
  if (kind === 'metering') {
    const digest = sha256Hex(message);
    const receipt_id = `r_sls.metering_${ISSUED}_${digest.slice(0, 12)}`;
    return { ...document, receipt_id, payload_sha256: digest, ts: ISSUED, sig_b64u: signature };
  }
  return { ...document, receipt: { ...(document.receipt as JsonObject), sig_b64u: signature } };
}

/** The members of a kind of receipt about its issuer and key. */
export function issuerMembers(kind: Kind, did: string, signer: Signer): JsonObject {
  if (kind === 'nano') return { k: signer.keyId };
  if (kind === 'metering') return { key_id: signer.keyId };
  return {
    issuer_did: did,
    issuer_pubkey: toBase64url(signer.publicKey),
    issuer_verified: true,
    key_id: signer.keyId,
  };
}

/** A valid receipt. `changes` are made before it is signed. */
export function sampleReceipt(
  kind: Kind,
  did: string,
  signer: Signer,
  changes: JsonObject = {},
): Promise<JsonObject> {
  return signAs(kind, { ...contents(kind), ...issuerMembers(kind, did, signer), ...changes }, signer);
}
