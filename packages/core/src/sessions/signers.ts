import type { Signer } from '../ed25519/signer.ts';
import { toHex } from '../encoding/hex.ts';
import { type EnvelopeFacts, mintEnvelope } from '../receipts/envelope.ts';
import { receiptId } from '../receipts/id.ts';
import type { SessionCall } from './session-call.ts';

/** What one receipt of a session says. */
export interface SessionEntryToSign {
  readonly call: SessionCall;
  readonly purpose: 'tool_call' | 'reference' | 'session';
  /** Salted hash of a tool's arguments, `sha256:<hex>`; null if there are none. */
  readonly request: string | null;
  /** Salted hash of a tool's result. */
  readonly response: string | null;
}

/** Signs one receipt of a session and returns its JCS text. It is called for one receipt after the other. */
export type SessionSigner = (entry: SessionEntryToSign) => Promise<string>;

/** What signing a session's receipts needs. */
export interface SessionSignerOptions {
  /** The key of the whole session. */
  readonly signer: Signer;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** So many random bytes. */
  readonly random: (length: number) => Uint8Array;
  /** DID of the agent that is recorded, as it says itself. */
  readonly agentDid?: string | undefined;
  /** What paid for the receipt; nothing when absent. */
  readonly settlement?: EnvelopeFacts['settlement'];
}

const NOBODY = { entity: null, region: null, training_region: null };
const UNPAID = { chain: null, asset: null, tx: null };

/** Signs with the recorder's own key. Whoever pins that key trusts the session. */
export function ownKeySigner(options: SessionSignerOptions): SessionSigner {
  return (entry) => mint(options, entry, null);
}

/** Signs as a service what a recorder tells it, which the receipts mark as `declared`. @param issuerDid DID of the service */
export function declaredSigner(options: SessionSignerOptions, issuerDid: string): SessionSigner {
  return (entry) => mint(options, entry, issuerDid);
}

function mint(
  { signer, now, random, agentDid, settlement = UNPAID }: SessionSignerOptions,
  { call, purpose, request, response }: SessionEntryToSign,
  issuerDid: string | null,
): Promise<string> {
  const facts: EnvelopeFacts = {
    call,
    ...(issuerDid !== null && { declared: ['call', 'request', 'response'] }),
    hardware: { attestation: null, class: null },
    operator: NOBODY,
    request: { hash: request, origin: agentDid ?? null, policy_hash: null, purpose },
    response: { hash: response, sealed: response === null ? null : false },
    settlement,
  };
  const issuedAt = now();
  const issuance = {
    receiptId: receiptId('env', Math.floor(issuedAt / 1000), toHex(random(6))),
    issuedAt,
    issuerDid,
    issuerVerified: issuerDid !== null,
  };
  return mintEnvelope(facts, issuance, signer);
}
