import {
  aesGcmEncrypt,
  concatBytes,
  createSigner,
  emitReceipt,
  hkdfSha256,
  isObject,
  type JsonObject,
  type MeteringBill,
  mintMetering,
  parseJson,
  type SealedDocument,
  type Signer,
  sealReference,
  sha256,
  toBase64url,
  toHex,
  utf8,
} from '@tallystick/core';
import type { Samples } from '../src/later/five-checks.ts';

const ISSUER = 'did:svc:sample';
const ISSUED_AT = '2026-01-15T11:00:00Z';
const ISSUED_MS = Date.parse(ISSUED_AT);
const BACKED = 34;
const NOTE = 'Pallet 7: 42.5 kg, handed over undamaged.';

/** 32 bytes that are the same in every build, so nothing that they protect is secret. */
const fixed = (name: string): Uint8Array => sha256(utf8(`tallystick sample: ${name}`));

/** Makes the samples of the five reference checks: the same bytes in every build. */
export async function makeSamples(): Promise<Samples> {
  const issuer = await createSigner(fixed('issuer'));
  const thief = await createSigner(fixed('thief'));
  const valid = await receiptFor(40, issuer);
  const forged = await receiptFor(42, { ...thief, keyId: issuer.keyId });
  return {
    issuers: [
      {
        did: ISSUER,
        status: 'verified',
        keys: [
          {
            key_id: issuer.keyId,
            public_key: toBase64url(issuer.publicKey),
            purpose: 'receipt',
            state: 'active',
            valid_from: '2026-01-01T00:00:00Z',
            valid_until: null,
            revoked: null,
          },
        ],
      },
    ],
    valid,
    tampered: { ...valid, signed_body: forged.signed_body ?? null },
    forged,
    sealing: await sealing(issuer),
  };
}

/** A receipt for a bill for pallets, of which 34 have evidence. */
async function receiptFor(billed: number, signer: Signer): Promise<JsonObject> {
  const commitment = (label: string): string => toHex(fixed(label));
  const evidence = Array.from({ length: BACKED }, (_, index) => ({
    unit: index + 1,
    receipt_sha256: commitment(`unit ${index + 1}`),
  }));
  const bill: MeteringBill = {
    machine_commitment: commitment('machine'),
    customer_commitment: commitment('customer'),
    salt_commitment: commitment('salt'),
    window_start: '2026-01-01T00:00:00Z',
    window_end: '2026-01-15T00:00:00Z',
    compiled_at: ISSUED_AT,
    service_unit: 'pallet_moved',
    billed_unit_count: billed,
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: commitment('rate') },
  };
  return parsed(await mintMetering(bill, evidence, { now: ISSUED_MS }, signer));
}

function parsed(text: string): JsonObject {
  const receipt = parseJson(utf8(text));
  if (isObject(receipt)) return receipt;
  throw new Error(`Not a receipt: ${text}`);
}

async function sealing(issuer: Signer): Promise<Samples['sealing']> {
  const key = fixed('sealing key');
  const document = await sealDeterministically(utf8(NOTE), key);
  const text = await emitReceipt(
    'standard',
    {
      agentDid: 'did:svc:anonymous',
      agentProved: false,
      subject: { sha256: sha256(utf8(NOTE)), contentType: 'text/plain', ok: true },
      verifyUri: 'https://receipts.example/verify',
      purpose: 'handover note',
      settlement: { rail: 'x402', chain_id: 8453, asset: 'USDC', status: 'none', tx: null },
      seal: sealReference(document),
      reputationTier: 'unregistered',
      sealedEvidenceRef: null,
      auditorVerifier: false,
    },
    {
      receiptId: `r_standard_${ISSUED_MS / 1000}_5ea1ed5a3b1e`,
      issuedAt: ISSUED_MS,
      issuerDid: ISSUER,
      issuerVerified: true,
    },
    issuer,
  );
  return {
    receipt: parsed(text) as Samples['sealing']['receipt'],
    document,
    key: toHex(key),
    wrongKey: toHex(fixed('another sealing key')),
  };
}

/** Does what `seal` does (spec/sealing.md), with a seal id and a nonce that are not random: for a sample only. */
async function sealDeterministically(plaintext: Uint8Array, key: Uint8Array): Promise<SealedDocument> {
  const sealId = fixed('seal id').slice(0, 16);
  const nonce = fixed('nonce').slice(0, 12);
  const derived = (info: string): Uint8Array => hkdfSha256(key, sealId, utf8(`svc-seal-v1/${info}`), 32);
  const commitment = derived('commitment');
  const aad = concatBytes(utf8('svc-seal-v1'), sealId, commitment);
  return {
    type: 'svc-seal-v1',
    alg: 'A256GCM',
    seal_id: toBase64url(sealId),
    nonce: toBase64url(nonce),
    key_commitment: toHex(commitment),
    ciphertext: toBase64url(await aesGcmEncrypt(derived('key'), nonce, aad, plaintext)),
  };
}
