import {
  emitReceipt,
  type Issuance,
  type JsonObject,
  type PqSigner,
  type Profile,
  type ProfileFacts,
  type Signer,
  sha256,
  utf8,
} from '../../packages/core/src/index.ts';
import { ISSUED_MS, ISSUED_SECONDS } from './cases.ts';
import { signers } from './keys.ts';
import { asDocument } from './sign.ts';
import { SERVICE_DID } from './stores.ts';

export const facts: ProfileFacts = {
  agentDid: signers.agent.keyId,
  agentProved: false,
  subject: { sha256: sha256(utf8('{"temperature":21}')), contentType: 'application/json', ok: true },
  verifyUri: 'https://receipts.example/verify',
  purpose: 'telemetry',
  settlement: { rail: 'x402', chain_id: 8453, asset: 'USDC', status: 'none', tx: null },
  seal: null,
  reputationTier: 'unregistered',
  sealedEvidenceRef: null,
  auditorVerifier: false,
};

/** A profile receipt of the service, emitted by core. */
export async function emitted(
  profile: Profile,
  changes: Partial<ProfileFacts> = {},
  issuance: Partial<Issuance> = {},
  signer: Signer = signers.service,
  pq: PqSigner | null = null,
): Promise<JsonObject> {
  const base = {
    receiptId: `r_${profile}_${ISSUED_SECONDS}_0123456789ab`,
    issuedAt: ISSUED_MS,
    issuerDid: SERVICE_DID,
    issuerVerified: true,
  };
  return asDocument(
    await emitReceipt(profile, { ...facts, ...changes }, { ...base, ...issuance }, signer, pq),
  );
}
