import { type ApiKeyStore, accountToCredit } from '@tallystick/callers';
import { fromHex } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { Entry, NanoUsdc } from '@tallystick/ledger';
import { callerAccount, REVENUE } from '@tallystick/ledger';
import { type Deliverable, destinationOf } from '../keys/contact.ts';
import { newOrder, newOrderId, requireKeySecret } from '../keys/issue.ts';
import { boughtWith, isSoldTier, monthsAfter, type SoldTier, type TierPrices } from '../keys/prices.ts';
import { newSeed, soldKeyRow } from '../keys/sold-key.ts';
import {
  type OrderRow,
  type TransferEnding,
  type TransferRow,
  type TreasuryStore,
  UNPAID,
} from '../treasury-store.ts';
import { chainAccount, REFUNDS } from './accounts.ts';
import { type MemoFields, readMemo } from './memo.ts';
import { toNanoUsdc } from './units.ts';

/** Why a transfer goes to the refund queue (docs/money.md). */
export const REFUND_REASONS = [
  'no_memo',
  'broken_memo',
  'ambiguous_memo',
  'unknown_tier',
  'no_contact',
  'bad_contact',
  'no_mail_server',
  'underpaid',
  'quote_expired',
  'unknown_account',
  'unknown_key',
  'key_revoked',
  'made_key',
  'key_without_end',
  'wrong_tier',
] as const;
type RefundReason = (typeof REFUND_REASONS)[number];

export interface DecisionDependencies {
  readonly store: { readonly treasury: TreasuryStore; readonly apiKeys: ApiKeyStore };
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
  /** What is asked now. */
  readonly prices: () => TierPrices;
  readonly deliverable: Deliverable;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Decides how a confirmed transfer ends by what is known now. `TreasuryStore.end` notices if that has changed. */
export type Decide = (transfer: TransferRow) => Promise<TransferEnding>;

/** The part of an ending that depends on its kind. */
type PartialOutcome = Omit<TransferEnding, 'transfer' | 'at' | 'posting'> & {
  readonly memo: string;
  /** The entries that credit what came in. */
  readonly credits: readonly Entry[];
};

/** Decides by the table in docs/money.md, row by row. */
export function createDecide(dependencies: DecisionDependencies): Decide {
  const { store, prices, deliverable } = dependencies;

  async function partOf(transfer: TransferRow, now: number): Promise<PartialOutcome> {
    const memo = readMemo(transfer.memo === null ? null : fromHex(transfer.memo));
    if (memo.kind === 'read') return byMemo(transfer, memo.fields, now);
    const quoted = await store.treasury.openOrderOf(transfer.amount);
    if (quoted !== null) return byQuote(transfer, quoted, now);
    return refund(transfer, memo.kind === 'none' ? 'no_memo' : 'broken_memo', now);
  }

  async function byMemo(transfer: TransferRow, fields: MemoFields, now: number): Promise<PartialOutcome> {
    const { tier, contact, issuer_did, account, key } = fields;
    const buys = (tier ?? contact ?? issuer_did) !== undefined && key === undefined;
    const purposes = [buys, key !== undefined, account !== undefined].filter(Boolean).length;
    if (purposes !== 1) return refund(transfer, 'ambiguous_memo', now);
    if (account !== undefined) return topUp(transfer, account, now);
    if (key !== undefined) return renewal(transfer, { keyId: key, tier: tier ?? null, claims: null }, now);
    if (tier === undefined || !isSoldTier(tier)) return refund(transfer, 'unknown_tier', now);
    const to = { contact: contact ?? null, did: issuer_did ?? null };
    const destination = destinationOf(to, deliverable);
    if (typeof destination === 'string') return refund(transfer, destination, now);
    const bought = boughtWith(prices(), tier, toNanoUsdc(transfer.amount));
    if (bought === null) return refund(transfer, 'underpaid', now);
    const order = {
      ...newOrder({ id: newOrderId(), kind: 'key', state: 'delivering', createdAt: now }),
      ...to,
    };
    return keySale(transfer, { ...order, tier, months: bought.months }, { excess: bought.excess, now });
  }

  async function byQuote(transfer: TransferRow, order: OrderRow, now: number): Promise<PartialOutcome> {
    if (order.expiresAt !== null && transfer.blockTime > order.expiresAt)
      return refund(transfer, 'quote_expired', now);
    if (order.kind === 'key') {
      // The mail server may have been removed from the configuration since the quote.
      const destination = destinationOf(order, deliverable);
      if (typeof destination === 'string') return refund(transfer, destination, now);
      return keySale(transfer, order, { excess: 0n, now, quoted: true });
    }
    if (order.kind === 'renewal')
      return renewal(transfer, { keyId: order.apiKey ?? '', tier: order.tier, claims: order }, now);
    const account = order.account ?? '';
    return {
      outcome: 'top_up',
      reference: account,
      memo: 'top-up',
      credits: [{ account, amount: toNanoUsdc(transfer.amount) }],
      claims: { ...order, state: 'done', payment: transfer.id, dueAt: null },
    };
  }

  function keySale(
    transfer: TransferRow,
    order: OrderRow,
    { excess, now, quoted = false }: { excess: NanoUsdc; now: number; quoted?: boolean },
  ): PartialOutcome {
    const tier = order.tier as SoldTier;
    const seed = newSeed();
    const paidUntil = monthsAfter(now, order.months);
    const row = soldKeyRow(
      requireKeySecret(dependencies.issuer),
      { id: order.id, tier, seed },
      { createdAt: now, expiresAt: paidUntil },
    );
    const paid: OrderRow = {
      ...order,
      state: 'delivering',
      payment: transfer.id,
      apiKey: row.id,
      paidUntil,
      seed,
      dueAt: now,
    };
    return {
      outcome: 'key',
      reference: order.id,
      memo: `key ${tier}, ${order.months} months`,
      credits: saleEntries(transfer, row.id, excess),
      apiKey: row,
      ...(quoted ? { claims: paid } : { order: paid }),
    };
  }

  async function renewal(
    transfer: TransferRow,
    { keyId, tier, claims }: { keyId: string; tier: string | null; claims: OrderRow | null },
    now: number,
  ): Promise<PartialOutcome> {
    const key = await store.apiKeys.get(keyId);
    if (key === null) return refund(transfer, 'unknown_key', now);
    if (key.revokedAt !== null) return refund(transfer, 'key_revoked', now);
    // The end is its owner's to set, and the owner's account pays for its calls.
    if (key.owner !== null) return refund(transfer, 'made_key', now);
    if (key.expiresAt === null || !isSoldTier(key.tier)) return refund(transfer, 'key_without_end', now);
    if (tier !== null && tier !== key.tier) return refund(transfer, 'wrong_tier', now);
    const amount = toNanoUsdc(transfer.amount);
    const bought =
      claims === null ? boughtWith(prices(), key.tier, amount) : { months: claims.months, excess: 0n };
    if (bought === null) return refund(transfer, 'underpaid', now);
    const { months, excess } = bought;
    const paidUntil = monthsAfter(Math.max(now, key.expiresAt), months);
    const order = claims ?? newOrder({ id: newOrderId(), kind: 'renewal', state: 'done', createdAt: now });
    const paid: OrderRow = {
      ...order,
      state: 'done',
      tier: key.tier,
      months,
      payment: transfer.id,
      apiKey: key.id,
      paidUntil,
      dueAt: null,
    };
    return {
      outcome: 'key',
      reference: order.id,
      memo: `renewal of ${key.id}, ${months} months`,
      credits: saleEntries(transfer, key.id, excess),
      renews: { id: key.id, from: key.expiresAt, to: paidUntil },
      ...(claims === null ? { order: paid } : { claims: paid }),
    };
  }

  async function topUp(transfer: TransferRow, who: string, now: number): Promise<PartialOutcome> {
    const account = await accountToCredit(store.apiKeys, who);
    if (account === null) return refund(transfer, 'unknown_account', now);
    return {
      outcome: 'top_up',
      reference: account,
      memo: 'top-up',
      credits: [{ account, amount: toNanoUsdc(transfer.amount) }],
    };
  }

  return async (transfer) => {
    const now = Math.floor(dependencies.clock() / 1000);
    const { memo, credits, ...part } = await partOf(transfer, now);
    const chain = { account: chainAccount(transfer.network), amount: -toNanoUsdc(transfer.amount) };
    const entries = [chain, ...credits.filter(({ amount }) => amount !== 0n)];
    return {
      ...part,
      transfer: transfer.id,
      at: now,
      posting: { id: `transfer:${transfer.id}`, memo, at: now, entries },
    };
  };
}

/** The entries of a sale. The amount above the price is credited to the key's account. */
function saleEntries({ amount }: TransferRow, keyId: string, excess: NanoUsdc): Entry[] {
  return [
    { account: REVENUE, amount: toNanoUsdc(amount) - excess },
    { account: callerAccount(keyId), amount: excess },
  ];
}

function refund(transfer: TransferRow, reason: RefundReason, now: number): PartialOutcome {
  const { network, sender, amount } = transfer;
  const id = refundId(transfer);
  return {
    outcome: 'refund',
    reference: id,
    memo: `to be refunded: ${reason}`,
    credits: [{ account: REFUNDS, amount: toNanoUsdc(amount) }],
    refund: {
      id,
      kind: 'refund',
      state: 'waiting',
      network,
      account: REFUNDS,
      address: sender,
      amount,
      reason,
      transfer: transfer.id,
      createdAt: now,
      ...UNPAID,
    },
  };
}

/** A short id, always the same for the same transfer. */
function refundId({ txHash, ordinal }: TransferRow): string {
  return `rf_${txHash.slice(2, 18)}_${ordinal}`;
}
