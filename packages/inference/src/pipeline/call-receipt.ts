import { hash, randomUUID } from 'node:crypto';
import {
  anchoredHash,
  canonicalize,
  ENVELOPE_PROFILE,
  type EnvelopeFacts,
  fromHex,
  type JsonObject,
  mintEnvelope,
  parseJson,
  receiptId,
  utf8,
} from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { NewReceipt } from '@tallystick/kit';
import { formatUsdc } from '@tallystick/ledger';
import type { OpenPayment } from '@tallystick/payments';
import { expiryOf, type OperatorFacts, ownOperation } from '@tallystick/receipts';
import type { Model } from '../catalogue/catalogue.ts';
import type { Bill } from '../token-prices.ts';
import type { Usage } from '../types.ts';

/** The facts in an inference call's receipt. Hashes are hex. */
export interface CallFacts {
  readonly receiptId: string;
  readonly requestHash: string;
  readonly responseHash: string;
  readonly model: Model;
  /** The model name in the request. */
  readonly requestedModel: string;
  readonly stream: boolean;
  /** False if the answer ended early. */
  readonly complete: boolean;
  readonly agent: { readonly did: string | null; readonly proved: boolean };
  readonly usage: Usage;
  readonly bill: Bill;
  /** The kind of account that pays. */
  readonly account: string;
  /** Only of a compressed prompt. */
  readonly compression:
    | { readonly tokens_before: number; readonly tokens_after: number; readonly saving: string }
    | undefined;
  /** The x402 payment that pays; null if none does. */
  readonly payment: Pick<OpenPayment, 'id' | 'payer' | 'network'> | null;
}

export interface CallReceipt {
  /** JCS text. */
  readonly text: string;
  readonly row: NewReceipt;
}

/** A new id of a call's receipt, which is also the id of its reservation and posting. `now` is in Unix milliseconds. */
export function newCallId(now: number): string {
  return receiptId('env', Math.floor(now / 1000), randomUUID().slice(-12));
}

/** The hash of the parsed body (spec/compute.md, *Request hash*), in hex. */
export function hashRequest({ raw }: { readonly raw: JsonObject }): string {
  return hashText(canonicalize(raw));
}

/** SHA-256 in hex of a text's UTF-8 bytes. */
export function hashText(text: string): string {
  return hash('sha256', text);
}

/** Signs the receipt of a call (spec/compute.md). `now` is in Unix milliseconds. */
export async function mintCallReceipt(
  issuer: OwnIssuer,
  facts: CallFacts,
  { now, operator }: { readonly now: number; readonly operator: OperatorFacts },
): Promise<CallReceipt> {
  const id = facts.receiptId;
  const issuance = { receiptId: id, issuedAt: now, issuerDid: issuer.did, issuerVerified: true };
  const text = await mintEnvelope(
    envelopeFacts(issuer.did, facts, operator),
    issuance,
    issuer.signer('receipt'),
  );
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = expiryOf(ENVELOPE_PROFILE, issuedAt);
  const anchored = (): Uint8Array => fromHex(anchoredHash(parseJson(utf8(text))), 32);
  return {
    text,
    row: { id, profile: ENVELOPE_PROFILE, tenant: null, body: text, issuedAt, expiresAt, anchored },
  };
}

/** The members are in JCS order, which saves sorting them. */
function envelopeFacts(service: string, facts: CallFacts, operator: OperatorFacts): EnvelopeFacts {
  const { model, usage, agent, bill, payment } = facts;
  return {
    call: {
      agent_proved: agent.proved,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
      cached_tokens: usage.cachedTokens,
      complete: facts.complete,
      completion_tokens: usage.completionTokens,
      model: model.id,
      prompt_tokens: usage.promptTokens,
      provider: model.provider,
      requested_model: facts.requestedModel,
      stream: facts.stream,
      usage_estimated: usage.estimated,
      ...facts.compression,
    },
    ...operationOf(model, service, operator),
    request: {
      hash: `sha256:${facts.requestHash}`,
      origin: agent.did,
      policy_hash: null,
      purpose: 'inference',
    },
    response: { hash: `sha256:${facts.responseHash}`, sealed: false },
    settlement: {
      account: facts.account,
      amount: formatUsdc(bill.charge),
      asset: 'USDC',
      // The settlement follows the receipt: see spec/payments.md.
      chain: payment?.network ?? null,
      ...(payment !== null && { payer: payment.payer, payment: payment.id }),
      tx: null,
    },
  };
}

/** Operator and hardware of the model: from the service's configuration for a built-in model, else from the catalogue. */
function operationOf(
  model: Model,
  service: string,
  operator: OperatorFacts,
): Pick<EnvelopeFacts, 'operator' | 'hardware'> {
  if (model.builtIn) {
    const hardwareClass = operator.hardwareClass ?? model.hardware;
    return ownOperation(service, { ...operator, hardwareClass });
  }
  return {
    hardware: { attestation: model.attestation, class: model.hardware },
    // Providers publish no DID for their calls, and none is invented for them.
    operator: { entity: null, region: model.region, training_region: model.trainingRegion },
  };
}
