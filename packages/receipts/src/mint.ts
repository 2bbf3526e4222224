import { hash, randomUUID } from 'node:crypto';
import {
  ENVELOPE_PROFILE,
  type EnvelopeFacts,
  type Issuance,
  mintEnvelope,
  type Profile,
  receiptId,
  TallyError,
  termsOf,
} from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { ReceiptRow } from '@tallystick/kit';
import type { Draft } from './issue.ts';
import { type OperatorFacts, ownOperation } from './operator-facts.ts';

/** What signing needs of the service. `clock` gives Unix milliseconds. */
export interface SigningContext {
  readonly issuer: OwnIssuer;
  readonly clock: () => number;
}

export interface FreeMint {
  /** Hashed as UTF-8 and then forgotten. */
  readonly input: string;
  readonly purpose: string;
  /** The DID that the caller says is its own, or null. */
  readonly origin: string | null;
  /** What the caller says of the policy and of the response: signed as declared. */
  readonly declared: Declared;
  readonly operator: OperatorFacts;
}

/** What only the caller knows. Hashes are `sha256:<64 hex>`; what is not said is undefined. */
interface Declared {
  readonly policyHash: string | undefined;
  readonly responseHash: string | undefined;
  readonly responseSealed: boolean | undefined;
}

/** Signs the free envelope. @throws receipt_too_large */
export function signEnvelope(context: SigningContext, mint: FreeMint): Promise<Draft> {
  const { policyHash, responseHash, responseSealed } = mint.declared;
  const declared = Object.entries({
    'request.policy_hash': policyHash,
    'response.hash': responseHash,
    'response.sealed': responseSealed,
  }).flatMap(([path, value]) => (value === undefined ? [] : path));
  const facts: EnvelopeFacts = {
    ...(declared.length > 0 && { declared }),
    ...ownOperation(context.issuer.did, mint.operator),
    request: {
      hash: `sha256:${hash('sha256', mint.input)}`,
      origin: mint.origin,
      purpose: mint.purpose,
      policy_hash: policyHash ?? null,
    },
    response: { hash: responseHash ?? null, sealed: responseSealed ?? null },
    settlement: { chain: null, asset: null, tx: null },
  };
  return namingLongest({ purpose: mint.purpose, 'X-Agent-DID': mint.origin }, () =>
    draft(context, 'env', (issuance) => mintEnvelope(facts, issuance, context.issuer.signer('receipt'))),
  );
}

/**
 * Signs a receipt by `sign`. If the receipt is refused as too large, the error names the field of the caller's longest text.
 * @param texts by their fields
 */
export async function namingLongest(
  texts: Readonly<Record<string, string | null | undefined>>,
  sign: () => Promise<Draft>,
): Promise<Draft> {
  try {
    return await sign();
  } catch (error) {
    if (!(error instanceof TallyError && error.code === 'receipt_too_large')) throw error;
    const lengths = Object.entries(texts).map(([field, text]) => ({ field, length: text?.length ?? 0 }));
    const [longest] = lengths.toSorted((a, b) => b.length - a.length);
    throw new TallyError(error.code, error.message, { field: longest?.field, cause: error });
  }
}

const DAY = 86_400;

/** Signs a receipt under a fresh id. */
export async function draft(
  { issuer, clock }: SigningContext,
  kind: 'env' | Profile,
  sign: (issuance: Issuance) => Promise<string>,
): Promise<Draft> {
  const now = clock();
  const issuedAt = Math.floor(now / 1000);
  const profile = kind === 'env' ? ENVELOPE_PROFILE : kind;
  const id = receiptId(kind, issuedAt, random48());
  const signed = await sign({ receiptId: id, issuedAt: now, issuerDid: issuer.did, issuerVerified: true });
  return { id, profile, issuedAt, expiresAt: expiryOf(profile, issuedAt), signed, earlier: async () => null };
}

/** Unix seconds until which a receipt issued at `issuedAt` (Unix seconds) is kept. */
export function expiryOf(profile: ReceiptRow['profile'], issuedAt: number): number {
  return issuedAt + termsOf(profile).retentionDays * DAY;
}

/** 12 random hex characters: the last group of a UUID v4, which Node makes from entropy gathered in bulk. */
function random48(): string {
  return randomUUID().slice(-12);
}
