import { hash, randomUUID } from 'node:crypto';
import { type EnvelopeFacts, mintEnvelope, receiptId } from '@tallystick/core';
import type { OwnIssuer } from '../../issuers/own-issuer.ts';
import { expiryOf } from '../../receipts/mint.ts';
import type { ReceiptRow } from '../../store/store.ts';
import type { Model } from '../catalogue/catalogue.ts';
import { formatUsdc } from '../ledger/money.ts';
import type { Bill } from '../ledger/pricing.ts';
import type { Usage } from '../types.ts';

/** What an inference call's receipt says. Hashes are hex. */
export interface CallFacts {
  readonly receiptId: string;
  readonly requestHash: string;
  readonly responseHash: string;
  readonly model: Model;
  /** As it was asked for. */
  readonly requestedModel: string;
  readonly stream: boolean;
  /** False where the answer ended early. */
  readonly complete: boolean;
  readonly agent: { readonly did: string | null; readonly proved: boolean };
  readonly usage: Usage;
  readonly bill: Bill;
  /** What kind of account pays. */
  readonly account: string;
  /** Of a prompt that was compressed. */
  readonly compression:
    | { readonly tokens_before: number; readonly tokens_after: number; readonly saving: string }
    | undefined;
}

export interface CallReceipt {
  /** JCS text. */
  readonly text: string;
  readonly row: ReceiptRow;
}

/** The id of a call's receipt, which names its reservation and its posting too. `now` is in Unix milliseconds. */
export function newCallId(now: number): string {
  return receiptId('env', Math.floor(now / 1000), randomUUID().slice(-12));
}

/** SHA-256 in hex of a text's UTF-8 bytes. */
export function hashText(text: string): string {
  return hash('sha256', text);
}

/** Signs the receipt of a call (spec/compute.md). `now` is in Unix milliseconds. */
export async function mintCallReceipt(
  issuer: OwnIssuer,
  facts: CallFacts,
  { now, region }: { readonly now: number; readonly region: string | null },
): Promise<CallReceipt> {
  const id = facts.receiptId;
  const issuance = { receiptId: id, issuedAt: now, issuerDid: issuer.did, issuerVerified: true };
  const text = await mintEnvelope(
    envelopeFacts(issuer.did, facts, region),
    issuance,
    issuer.signer('receipt'),
  );
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = expiryOf('standard', issuedAt);
  return { text, row: { id, profile: 'standard', tenant: null, body: text, issuedAt, expiresAt } };
}

function envelopeFacts(service: string, facts: CallFacts, region: string | null): EnvelopeFacts {
  const { model, usage, agent, bill } = facts;
  const local = model.provider === 'local';
  return {
    request: {
      hash: `sha256:${facts.requestHash}`,
      origin: agent.did,
      purpose: 'inference',
      policy_hash: null,
    },
    // Providers have no DID that they publish for their calls, and none is invented for them.
    operator: {
      entity: local ? service : null,
      region: local ? region : model.region,
      training_region: null,
    },
    hardware: { class: model.hardware, attestation: null },
    response: { hash: `sha256:${facts.responseHash}`, sealed: false },
    settlement: {
      chain: null,
      asset: 'USDC',
      tx: null,
      amount: formatUsdc(bill.charge),
      account: facts.account,
    },
    call: {
      provider: model.provider,
      model: model.id,
      requested_model: facts.requestedModel,
      stream: facts.stream,
      complete: facts.complete,
      agent_proved: agent.proved,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
      usage_estimated: usage.estimated,
      ...facts.compression,
    },
  };
}
