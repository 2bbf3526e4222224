import { type ErrorCode, type JsonValue, type Profile, SCHEMA_VERSION } from '@tallystick/core';
import type { Agent } from '../agents/agents.ts';
import { API_KEY_ERRORS, type ApiKey, missingKey } from '../api-keys/authenticate.ts';
import { showLowBalance } from '../compute/ledger/low-balance.ts';
import { type Answer, text } from '../http/answer.ts';
import { isProbe } from '../http/context.ts';
import type { Exchange } from '../http/exchange.ts';
import { type IdempotentRequest, idempotencyClaim, replayOf, requestHash } from '../http/idempotency.ts';
import { keyedMint, tenantMint } from '../receipts/keyed.ts';
import type { Keeping, Minted } from '../receipts/mint.ts';
import { payForReceipt, type ReceiptPayment } from '../receipts/paying.ts';
import { keptReceipt } from '../receipts/retention.ts';
import type { Services } from '../services.ts';
import type { ReceiptRow } from '../store/store.ts';

/** Request headers of every route that mints, for the reference. */
export const MINT_HEADERS = {
  'Idempotency-Key': 'For 72 hours, repeating a request with the same key and body gives the same receipt.',
  'X-Agent-DID': 'The DID of the calling agent.',
  Authorization:
    "Optional: `Bearer` and an API key. The receipt names the key's tier and counts towards its monthly quota; with `anchor`, or with a Scale or Enterprise key, it is anchored.",
};

/** Headers that come with every receipt, for the reference. */
export const RECEIPT_HEADERS = {
  'X-Receipt-Profile': 'The profile of the receipt.',
  'X-Receipt-Schema-Version': `Always ${SCHEMA_VERSION}.`,
  'X-Anchor-Ref': 'Where it is anchored, or is to be; absent where it is not.',
};

/** What every route that mints can refuse. */
export const MINT_ERRORS = [
  ...API_KEY_ERRORS,
  'quota_exceeded',
  'anchor_unavailable',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'unavailable',
] as const satisfies readonly ErrorCode[];

interface MintRequest {
  /** What an `Idempotency-Key` stands for. */
  readonly claim: Pick<IdempotentRequest, 'route' | 'profile'> & { readonly body: JsonValue };
  readonly profile: ReceiptRow['profile'];
  readonly key: ApiKey | null;
  /** The tenant of the caller's key, which then has no tier: its receipts are all anchored, and its own. */
  readonly tenant?: string | null;
  readonly anchor: boolean;
  /** What has a price where payments are on and no key pays, and the agent whose balance may. */
  readonly priced?: { readonly profile: Profile; readonly agent: Agent };
  readonly mint: (keeping: Keeping, payment: ReceiptPayment | null) => Promise<Minted>;
}

/**
 * Mints under the caller's key, if there is one, else for its payment where payments are on. A repeated request is
 * answered with the first one's receipt, and neither counts, costs nor anchors again.
 */
export async function mintOnce(
  services: Services,
  exchange: Exchange,
  request: MintRequest,
): Promise<Answer> {
  const { store, clock, clients, turns } = services;
  const { claim: claimed, profile, key, tenant = null, anchor, mint } = request;
  if (anchor && key === null && tenant === null) throw missingKey(exchange, 'anchor');
  const free = tenant !== null || isProbe(exchange.c);
  const payment = free ? null : await paymentOf(services, exchange, request);
  const caller = tenant ?? clients.scope(exchange.c);
  const claim = payment?.paid?.claim ?? idempotencyClaim(exchange.c, { ...claimed, caller, now: clock() });
  const keyed =
    tenant !== null
      ? tenantMint(services, profile)
      : key && keyedMint(services, exchange, { key, profile, anchor });
  const once = async (): Promise<Minted> => {
    const earlier = (await replayOf(store, claim, clock())) ?? (await delivered(services, payment));
    if (earlier !== null) return { receipt: earlier.response, replayed: true };
    return mint(
      {
        idempotency: claim,
        finish: keyed?.finish,
        put: payment?.put,
        rehearsal: isProbe(exchange.c),
        tenant: tenant ?? undefined,
      },
      payment,
    );
  };
  const minted = claim === undefined || keyed === null ? await once() : await turns(claim.scope, once);
  await payment?.paid?.delivered(idOf(minted.receipt));
  if (payment !== null && payment.account !== null)
    await showLowBalance(services, { account: payment.account, atLeast: null }, exchange);
  return mintedAnswer(minted, profile, (await keyed?.reference(minted)) ?? null);
}

async function paymentOf(
  { payments, store, clock }: Services,
  exchange: Exchange,
  { claim, key, priced }: MintRequest,
): Promise<ReceiptPayment | null> {
  if (payments === null || key !== null || priced === undefined) return null;
  const { pathname, search } = new URL(exchange.c.req.url);
  return payForReceipt({ payments, store, clock }, exchange, {
    ...priced,
    path: pathname + search,
    requestHash: requestHash(exchange.c, claim),
  });
}

/** The receipt that the payment was answered with before, where the claim of it is forgotten. */
async function delivered(
  { store, clock }: Services,
  payment: ReceiptPayment | null,
): Promise<{ readonly response: string } | null> {
  const id = payment?.paid?.receiptId ?? null;
  const found = id === null ? null : await keptReceipt(store, id, clock());
  return found?.kind === 'found' ? { response: found.body } : null;
}

function idOf(receipt: string): string | null {
  const { receipt_id, receipt: reference } = JSON.parse(receipt) as {
    receipt_id?: string;
    receipt?: { id: string };
  };
  return receipt_id ?? reference?.id ?? null;
}

/** A receipt as it was minted, or as it was answered to an earlier request. */
function mintedAnswer(
  { receipt, replayed }: Minted,
  profile: ReceiptRow['profile'],
  anchorRef: string | null,
): Answer {
  return text(receipt, 'application/json', {
    headers: {
      'x-receipt-profile': profile,
      'x-receipt-schema-version': SCHEMA_VERSION,
      ...(anchorRef === null ? {} : { 'x-anchor-ref': anchorRef }),
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
  });
}
