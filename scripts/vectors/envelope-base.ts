import {
  type EnvelopeFacts,
  type Issuance,
  type JsonObject,
  mintEnvelope,
  type Signer,
  sha256Hex,
  utf8,
} from '../../packages/core/src/index.ts';
import { ISSUED_MS, ISSUED_SECONDS } from './cases.ts';
import { signers } from './keys.ts';
import { asDocument } from './sign.ts';
import { SERVICE_DID } from './stores.ts';

const hash = (text: string): string => `sha256:${sha256Hex(utf8(text))}`;

export const facts: EnvelopeFacts = {
  request: {
    hash: hash('What is a tally stick?'),
    origin: signers.agent.keyId,
    purpose: 'question answering',
    policy_hash: null,
  },
  operator: { entity: SERVICE_DID, region: 'eu-central-1', training_region: null },
  hardware: { class: null, attestation: null },
  response: { hash: hash('A receipt made of wood.'), sealed: false },
  settlement: { chain: null, asset: null, tx: null },
};

/** An envelope of the service, minted by core. */
export async function minted(
  changes: Partial<EnvelopeFacts> = {},
  issuance: Partial<Issuance> = {},
  signer: Signer = signers.service,
): Promise<JsonObject> {
  const base = {
    receiptId: `r_env_${ISSUED_SECONDS}_0123456789ab`,
    issuedAt: ISSUED_MS,
    issuerDid: SERVICE_DID,
    issuerVerified: true,
  };
  return asDocument(await mintEnvelope({ ...facts, ...changes }, { ...base, ...issuance }, signer));
}
