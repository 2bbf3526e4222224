import { type Agent, type ClientAddresses, type CredentialOf, missingKey } from '@tallystick/callers';
import type { JsonValue, Profile, SettlementReference } from '@tallystick/core';
import {
  type IdempotencyRecord,
  type IdempotentRequest,
  idempotencyClaim,
  type Received,
  requestHash,
} from '@tallystick/kit';
import { type Claims, callerAccount, tenantAccount } from '@tallystick/ledger';
import type { Payments } from '@tallystick/payments';
import { type Draft, type Issued, issue, NOBODY, type Terms } from './issue.ts';
import { likeSettlement, orderOf, payForReceipt } from './receipt-payment.ts';
import type { ReceiptOwner } from './receipt-store.ts';
import { dryRunTerms, freeTerms, keyTerms, type TermsContext, tenantTerms } from './terms.ts';

/** What issuing receipts needs of the service. */
export interface IssuingContext extends TermsContext {
  readonly clients: Pick<ClientAddresses, 'scope'>;
  /** Null with payments off. */
  readonly payments: Payments | null;
  /** Holds back a request that another one with the same claim is ahead of. */
  readonly claims: Pick<Claims, 'take'>;
}

/** A receipt that somebody asks for. */
export interface ReceiptRequest {
  /** What an `Idempotency-Key` stands for. */
  readonly claim: Pick<IdempotentRequest, 'route' | 'profile'> & { readonly body: JsonValue };
  /** The caller's. A tenant's receipts are all anchored, and its own. */
  readonly credential: CredentialOf<'none' | 'apiKey' | 'tenantKey'>;
  readonly anchor: boolean;
  /** What has a price where payments are on and no key pays, and the agent whose balance may; null of what is free. */
  readonly priced: Priced | null;
  /**
   * Signs the receipt, which names the transaction that paid for it. For a request that brings a payment it is called once more
   * before that, to see whether the receipt can be signed.
   */
  readonly sign: (settlement: SettlementReference | null) => Promise<Draft>;
}

interface Priced {
  readonly profile: Profile | 'metering';
  readonly agent: Agent;
}

/**
 * Issues a receipt to a caller: under its key, or for its tenant, else for its payment where payments are on and it has a
 * price, else for nothing.
 * @throws api_key_missing for an anchor without a key; payment_required; idempotency_key_reused; quota_exceeded; unavailable
 */
export async function issueTo(
  context: IssuingContext,
  received: Received,
  request: ReceiptRequest,
): Promise<Issued> {
  const { claim: claimed, sign } = request;
  const { terms, claim } = await termsOf(context, received, request);
  const caller = callerOf(context, received, request);
  return issue(context, received, {
    claim: claim ?? idempotencyClaim(received.incoming, { ...claimed, caller, now: context.clock() }),
    terms,
    owner: ownerOf(request),
    sign: () => sign(terms.settlement),
  });
}

/**
 * Whose an `Idempotency-Key` is: the tenant's, the API key's for the agent that is named, or that of the DID that is proved,
 * wherever they call from; else that of the address group and the agent that is named.
 */
function callerOf(
  { clients }: IssuingContext,
  { incoming }: Received,
  { credential, priced }: ReceiptRequest,
): string {
  if (credential.kind === 'tenantKey') return credential.tenant;
  if (credential.kind === 'apiKey') return `${credential.id} agent:${incoming.header('x-agent-did') ?? ''}`;
  return priced?.agent.proved === true ? priced.agent.did : clients.scope(incoming);
}

/** The account of the key, the tenant, or the DID that is proved; nobody for a stranger. */
function ownerOf({ credential, priced }: ReceiptRequest): ReceiptOwner {
  if (credential.kind === 'none')
    return priced?.agent.proved === true ? { owner: callerAccount(priced.agent.did), key: null } : NOBODY;
  const { id: key } = credential;
  return credential.kind === 'apiKey'
    ? { owner: callerAccount(credential.owner), key }
    : { owner: tenantAccount(credential.tenant), key };
}

async function termsOf(
  context: IssuingContext,
  received: Received,
  { claim, credential, anchor, priced, sign }: ReceiptRequest,
): Promise<{ readonly terms: Terms; readonly claim?: IdempotencyRecord | undefined }> {
  if (anchor && credential.kind === 'none') throw missingKey('anchor');
  if (credential.kind === 'tenantKey') return { terms: tenantTerms(context, credential.tenant) };
  if (received.incoming.isProbe) return { terms: dryRunTerms(context) };
  if (credential.kind === 'apiKey')
    return { terms: keyTerms(context, received, { key: credential, anchor }) };
  const { payments } = context;
  if (payments === null || priced === null) return { terms: freeTerms(context) };
  // What can't be signed, for example because it is too large, must not be paid for. This draft is thrown away.
  if (payments.offered(received) !== null) await sign(likeSettlement(payments, priced.profile));
  const order = {
    ...priced,
    path: pathOf(received),
    requestHash: requestHash(received.incoming, claim),
  };
  return payForReceipt({ ...context, payments }, received, order);
}

/**
 * Refuses a request that nothing pays for, before its body is read: no key, no payment, and no agent that may have a balance.
 * @throws payment_required
 */
export async function refuseUnpaid(
  { payments }: Pick<IssuingContext, 'payments'>,
  received: Received,
  { profile, mayBePrepaid }: { readonly profile: Priced['profile']; readonly mayBePrepaid: boolean },
): Promise<void> {
  if (payments === null || mayBePrepaid || received.incoming.isProbe) return;
  if (payments.offered(received) !== null) return;
  throw await payments.required(orderOf({ profile, path: pathOf(received), requestHash: '' }));
}

function pathOf({ incoming }: Received): string {
  const { pathname, search } = new URL(incoming.url);
  return pathname + search;
}
