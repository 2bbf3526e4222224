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
import type { OperatorFacts } from '../config.ts';
import { reused } from '../http/idempotency.ts';
import type { OwnIssuer } from '../issuers/own-issuer.ts';
import type { IdempotencyRecord, ReceiptRow, Store } from '../store/store.ts';
import { ownOperation } from './operator-facts.ts';

/** What minting and emitting need of the service. `clock` gives Unix milliseconds. */
export interface ReceiptContext {
  readonly store: Store;
  readonly issuer: OwnIssuer;
  readonly clock: () => number;
}

/** A receipt’s JCS text, and whether it was made now or is the answer to an earlier request. */
export interface Minted {
  readonly receipt: string;
  readonly replayed: boolean;
}

/** How a receipt is kept once it is signed. */
export interface Keeping {
  readonly idempotency?: IdempotencyRecord | undefined;
  /** From the signed JCS text to the text that is stored; what it throws, the mint throws. */
  readonly finish?: ((signed: string) => Promise<string>) | undefined;
  /** Takes the place of `Store.putReceipt`, where more is stored with it. */
  readonly put?: Store['putReceipt'] | undefined;
  /** The tenant whose key reads it; nobody's when absent. */
  readonly tenant?: string | undefined;
  /** Signs and asks for the store, but stores nothing: how the service tries whether it could mint. */
  readonly rehearsal?: boolean | undefined;
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

/**
 * Mints the free envelope. Resolves after it is durable.
 * @throws receipt_too_large, idempotency_key_reused, unavailable
 */
export function mintFree(context: ReceiptContext, mint: FreeMint, keeping: Keeping): Promise<Minted> {
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
  return issueDurably(context, 'env', keeping, (issuance) =>
    mintEnvelope(facts, issuance, context.issuer.signer('receipt')),
  );
}

const DAY = 86_400;

/** Signs a receipt under a fresh id and stores it; a caller's repeated request gets the first answer. */
export async function issueDurably(
  { store, issuer, clock }: ReceiptContext,
  kind: 'env' | Profile,
  { idempotency, finish, put, tenant, rehearsal = false }: Keeping,
  sign: (issuance: Issuance) => Promise<string>,
): Promise<Minted> {
  const now = clock();
  const seconds = Math.floor(now / 1000);
  const profile = kind === 'env' ? ENVELOPE_PROFILE : kind;
  const id = receiptId(kind, seconds, random48());
  const signed = await sign({ receiptId: id, issuedAt: now, issuerDid: issuer.did, issuerVerified: true });
  if (rehearsal) {
    await store.ping();
    return { receipt: signed, replayed: false };
  }
  const body = finish === undefined ? signed : await finish(signed);
  const row: ReceiptRow = {
    id,
    profile,
    tenant: tenant ?? null,
    body,
    issuedAt: seconds,
    expiresAt: expiryOf(profile, seconds),
  };
  const stored = await storeReceipt(put === undefined ? store : { putReceipt: put }, row, idempotency);
  if (stored !== null) return stored;
  throw new TallyError('unavailable', 'The receipt could not be given an id of its own. Try again.');
}

/**
 * Stores a receipt, or finds what an earlier request under the same key was answered. Null when the id is taken.
 * @throws idempotency_key_reused, unavailable
 */
export async function storeReceipt(
  store: Pick<Store, 'putReceipt'>,
  row: ReceiptRow,
  idempotency: IdempotencyRecord | undefined,
): Promise<Minted | null> {
  const outcome = await store.putReceipt(row, idempotency);
  switch (outcome.kind) {
    case 'stored':
      return { receipt: row.body, replayed: false };
    case 'replayed':
      return { receipt: outcome.response, replayed: true };
    case 'reused':
      throw reused();
    case 'id_taken':
      return null;
  }
}

/** Unix seconds until which a receipt issued at `issuedAt` (Unix seconds) is kept. */
export function expiryOf(profile: ReceiptRow['profile'], issuedAt: number): number {
  return issuedAt + termsOf(profile).retentionDays * DAY;
}

/** 12 random hex characters: the last group of a UUID v4, which Node makes from entropy gathered in bulk. */
function random48(): string {
  return randomUUID().slice(-12);
}
