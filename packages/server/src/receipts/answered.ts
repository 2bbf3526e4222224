import { hash, randomUUID } from 'node:crypto';
import {
  canonicalize,
  copyJson,
  ENVELOPE_PROFILE,
  type JsonObject,
  mintEnvelope,
  receiptId,
  TallyError,
} from '@tallystick/core';
import type { OperatorFacts } from '../config.ts';
import type { IdempotencyRecord, ReceiptRow } from '../store/store.ts';
import { expiryOf, type ReceiptContext, storeReceipt } from './mint.ts';
import { ownOperation } from './operator-facts.ts';

/** A request that was answered, and what its receipt says. */
export interface Answered {
  /** The body as parsed. */
  readonly request: object;
  /** The answer without `svc`. */
  readonly answer: object;
  /** Of the request: which endpoint it was for. */
  readonly purpose: string;
  /** The DID that the caller says is its own, or null. */
  readonly origin: string | null;
  /** What the request's policy hashes to, where it has one. */
  readonly policy: object | null;
  readonly operator: OperatorFacts;
}

/**
 * The answer with `svc.receipt`: an envelope over the hashes of the JCS of request, policy and answer, as those of
 * inference calls. Resolves, to JSON text, after the receipt is durable; a repeated request gets the first answer.
 * @throws receipt_too_large, idempotency_key_reused, unavailable
 */
export async function receiptAnswer(
  { store, issuer, clock }: ReceiptContext,
  { request, answer, purpose, origin, policy, operator }: Answered,
  claim: IdempotencyRecord | undefined,
): Promise<{ text: string; replayed: boolean }> {
  const now = clock();
  const issuedAt = Math.floor(now / 1000);
  const id = receiptId('env', issuedAt, randomUUID().slice(-12));
  const receipt = await mintEnvelope(
    {
      request: {
        hash: hashOf(request),
        origin,
        purpose,
        policy_hash: policy === null ? null : hashOf(policy),
      },
      ...ownOperation(issuer.did, operator),
      response: { hash: hashOf(answer), sealed: false },
      settlement: { chain: null, asset: null, tx: null },
    },
    { receiptId: id, issuedAt: now, issuerDid: issuer.did, issuerVerified: true },
    issuer.signer('receipt'),
  );
  const text = JSON.stringify({ ...answer, svc: { receipt: JSON.parse(receipt) as JsonObject } });
  const row: ReceiptRow = {
    id,
    profile: ENVELOPE_PROFILE,
    tenant: null,
    body: receipt,
    issuedAt,
    expiresAt: expiryOf(ENVELOPE_PROFILE, issuedAt),
  };
  const stored = await storeReceipt(store, row, claim && { ...claim, response: text });
  if (stored === null) {
    throw new TallyError('unavailable', 'The receipt could not be given an id of its own. Try again.');
  }
  return stored.replayed ? { text: stored.receipt, replayed: true } : { text, replayed: false };
}

function hashOf(value: object): string {
  return `sha256:${hash('sha256', canonicalize(copyJson(value)))}`;
}
