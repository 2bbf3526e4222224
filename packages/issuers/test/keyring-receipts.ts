import { emitReceipt, type JsonObject } from '@tallystick/core';
import { type Keyring, signerFor } from '../src/keyring.ts';

/** A standard receipt by the keyring's present key. @param at when it is issued, in Unix milliseconds */
export async function receiptOf(keyring: Keyring, at: number): Promise<JsonObject> {
  const facts = {
    agentDid: 'did:svc:anonymous',
    agentProved: false,
    subject: { sha256: new Uint8Array(32), contentType: 'text/plain', ok: true },
    verifyUri: 'https://example.com/verify',
    purpose: null,
    settlement: { rail: 'x402', chain_id: 1, asset: 'USDC', status: 'none', tx: null },
    seal: null,
    reputationTier: 'unregistered',
    sealedEvidenceRef: null,
    auditorVerifier: false,
  } as const;
  const receiptId = `r_standard_${at / 1000}_0123456789ab`;
  const issuance = { receiptId, issuedAt: at, issuerDid: keyring.document.did, issuerVerified: true };
  return JSON.parse(await emitReceipt('standard', facts, issuance, signerFor(keyring, 'receipt')));
}
