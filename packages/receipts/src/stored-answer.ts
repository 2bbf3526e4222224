import { hash } from 'node:crypto';
import { canonicalize, copyJson, type JsonObject, mintEnvelope } from '@tallystick/core';
import { type IdempotencyRecord, keyReusedError } from '@tallystick/kit';
import { noIdOfItsOwn, rowOf } from './issue.ts';
import { draft, type SigningContext } from './mint.ts';
import type { OperatorFacts } from './operator-facts.ts';
import { ownOperation } from './operator-facts.ts';
import type { ReceiptStore } from './receipt-store.ts';

/** A request that was answered, and what its receipt says. */
export interface StoredAnswer {
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
  { store, issuer, clock }: SigningContext & { readonly store: Pick<ReceiptStore, 'putReceipt'> },
  { request, answer, purpose, origin, policy, operator }: StoredAnswer,
  claim: IdempotencyRecord | undefined,
): Promise<{ text: string; replayed: boolean }> {
  const signed = await draft({ issuer, clock }, 'env', (issuance) =>
    mintEnvelope(
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
      issuance,
      issuer.signer('receipt'),
    ),
  );
  const text = JSON.stringify({ ...answer, svc: { receipt: JSON.parse(signed.signed) as JsonObject } });
  const outcome = await store.putReceipt(rowOf(signed), claim && { ...claim, response: text });
  switch (outcome.kind) {
    case 'stored':
      return { text, replayed: false };
    case 'replayed':
      return { text: outcome.response, replayed: true };
    case 'reused':
      throw keyReusedError();
    case 'id_taken':
    case 'place_taken':
      throw noIdOfItsOwn();
  }
}

function hashOf(value: object): string {
  return `sha256:${hash('sha256', canonicalize(copyJson(value)))}`;
}
