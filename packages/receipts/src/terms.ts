import type { ApiKey, Counting } from '@tallystick/callers';
import type { SettlementReference } from '@tallystick/core';
import type { CounterStore, Received } from '@tallystick/kit';
import type { LedgerStore, NanoUsdc } from '@tallystick/ledger';
import { showLowBalance } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { PaymentResult } from '@tallystick/payments';
import type { Terms } from './issue.ts';
import { ofKey, ofTenant } from './key-effects.ts';
import type { ReceiptStore } from './receipt-store.ts';
import type { Unstored } from './unstored.ts';

export interface TermsContext extends Counting {
  readonly store: ReceiptStore & CounterStore & { readonly ledger: LedgerStore };
  readonly log: Pick<AnchorLog, 'accept' | 'find' | 'resolve'>;
  readonly config: { readonly sales: { readonly lowBalance: NanoUsdc } };
  readonly unstored: Unstored;
}

/** What every receipt has that nobody pays, counts or anchors. */
function plain(store: Pick<ReceiptStore, 'putReceipt'>): Terms {
  return {
    settlement: null,
    tenant: null,
    paidFor: null,
    counts: false,
    during: (work) => work(),
    complete: async (signed) => signed,
    put: (row, claim) => store.putReceipt(row, claim),
    anchorRef: async () => null,
    delivered: async () => undefined,
  };
}

/** Nobody pays: a receipt of the free endpoint, or of any with payments off. */
export const freeTerms = ({ store }: { readonly store: Pick<ReceiptStore, 'putReceipt'> }): Terms =>
  plain(store);

/** How the service tries whether it could issue: it signs, asks for the store, and keeps nothing. */
export function dryRunTerms({ store }: { readonly store: Pick<ReceiptStore, 'putReceipt' | 'ping'> }): Terms {
  return {
    ...plain(store),
    async put() {
      await store.ping();
      return { kind: 'stored' };
    },
  };
}

/** An API key's tier is on the receipt, which counts in its month and is anchored where the tier or the caller says so. */
export function keyTerms(
  context: TermsContext,
  received: Received,
  key: { readonly key: ApiKey; readonly anchor: boolean },
): Terms {
  return { ...plain(context.store), counts: true, ...ofKey(context, received, key) };
}

/** A tenant's receipts are all anchored, and readable with its key alone. */
export function tenantTerms(context: TermsContext, tenant: string): Terms {
  return {
    ...plain(context.store),
    tenant,
    counts: true,
    during: (work) => context.unstored.during(tenant, work),
    ...ofTenant(context, tenant),
  };
}

/** A prepaid balance pays with the write of the receipt. */
export function prepaidTerms(
  context: TermsContext,
  { account, put }: { readonly account: string; readonly put: Terms['put'] },
): Terms {
  return {
    ...plain(context.store),
    put,
    delivered: (_, received) => showLowBalance(context, { account, atLeast: null }, received),
  };
}

/** A payment by x402 that was taken before the receipt is signed. */
export function x402Terms(
  { store }: Pick<TermsContext, 'store'>,
  { paid, settlement }: { readonly paid: PaymentResult; readonly settlement: SettlementReference | null },
): Terms {
  return {
    ...plain(store),
    settlement,
    paidFor: paid.receiptId,
    delivered: (id) => paid.delivered(id),
  };
}
