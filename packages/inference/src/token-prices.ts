import type { Dust, Entry, NanoUsdc } from '@tallystick/ledger';
import { callerAccount, providerAccount, REVENUE } from '@tallystick/ledger';
import type { Usage } from './types.ts';

/** Nano-USDC per million tokens; so one token costs as many millionths of a nano-USDC, the unit of dust. */
export interface TokenPrices {
  readonly inputPerMTok: bigint;
  readonly outputPerMTok: bigint;
  readonly cacheReadPerMTok: bigint;
  readonly cacheWritePerMTok: bigint;
}

const DUST_PER_NANO = 1_000_000n;

export interface PricedCall {
  readonly price: TokenPrices;
  /** What is billed, after compression: the provider's count, unless it is not believed. */
  readonly usage: Usage;
  /** The provider's count if it is not believed; absent if it is billed. */
  readonly claimed?: Usage;
  /** What the removed tokens would have cost: charged, but not paid to the provider. */
  readonly gross: Dust;
  /** What compression may have cost elsewhere: by losing the provider's cache, and by further calls. */
  readonly lost: Dust;
  /** The caller's share of the saving, in percent (specification 2.11). */
  readonly sharePercent: number;
  /** DID of a member, who gets the share as a credit; null for anyone else, who gets a discount on the same bill. */
  readonly member: string | null;
  /** The payer's dust, from the reservation. */
  readonly dust: Dust;
}

export interface Bill {
  /** What the payer pays, rounded down. */
  readonly charge: NanoUsdc;
  /** The cost of the billed tokens, rounded down. Never more than the charge less the share. */
  readonly cost: NanoUsdc;
  /** What the provider will ask for, rounded down: the cost, unless its counts are not believed. May exceed the charge. */
  readonly owed: NanoUsdc;
  /** The member's credit, rounded down. 0 if the share is a discount. */
  readonly share: NanoUsdc;
  /** The discount, rounded down; it is not charged. */
  readonly discount: NanoUsdc;
  /** What the caller would have paid in addition without compression, rounded down; it includes the share. */
  readonly saving: NanoUsdc;
  /** What rounding the charge left over for the payer's next bill: less than a nano-USDC. */
  readonly dust: Dust;
}

/** The most that a call can cost, rounded up: the amount to reserve. */
export function ceiling(price: TokenPrices, promptTokens: number, maxOutputTokens: number): NanoUsdc {
  const dust = BigInt(promptTokens) * dearest(price) + BigInt(maxOutputTokens) * price.outputPerMTok;
  // One more for the dust that the payer carries.
  return (dust + DUST_PER_NANO - 1n) / DUST_PER_NANO + 1n;
}

/**
 * The bill of a call, exact except for one rounding of each amount. The charge is what the call would have cost
 * uncompressed, less the share: never more than that if compression saved anything, and no mark-up on the cost if it
 * did not. Savings never lower the cost, so a longer prompt never pays: charge - share >= cost. If a provider is not
 * believed, this holds for the billed tokens, and what it asks for in addition is the service's loss.
 */
export function priceCall(call: PricedCall): Bill {
  const { price, usage, claimed = usage, gross, lost, sharePercent, member } = call;
  const cost = costOf(price, usage);
  const saving = gross > lost ? gross - lost : 0n;
  const share = (saving * BigInt(sharePercent)) / 100n;
  const discount = member === null ? share : 0n;
  const total = cost + saving - discount + call.dust;
  return {
    charge: total / DUST_PER_NANO,
    cost: cost / DUST_PER_NANO,
    owed: costOf(price, claimed) / DUST_PER_NANO,
    share: member === null ? 0n : share / DUST_PER_NANO,
    discount: discount / DUST_PER_NANO,
    saving: saving / DUST_PER_NANO,
    dust: total % DUST_PER_NANO,
  };
}

/**
 * Limits a bill to what was reserved. The rest is the service's loss, since the caller was promised a limit. The share
 * is the part of the charge that is returned, so it shrinks too.
 */
export function capBill(bill: Bill, limit: NanoUsdc): Bill {
  if (bill.charge <= limit) return bill;
  const spare = limit > bill.cost ? limit - bill.cost : 0n;
  return { ...bill, charge: limit, share: bill.share < spare ? bill.share : spare, dust: 0n };
}

/**
 * The entries of a bill. What is neither the provider's nor the member's goes to the service, as a loss if the provider
 * asks for more than was charged.
 */
export function billEntries(
  { charge, owed, share }: Bill,
  { payer, provider, member }: { payer: string; provider: string; member: string | null },
): Entry[] {
  const entries = [
    { account: payer, amount: -charge },
    { account: providerAccount(provider), amount: owed },
    ...(member === null ? [] : [{ account: callerAccount(member), amount: share }]),
    { account: REVENUE, amount: charge - owed - share },
  ];
  return entries.filter(({ amount }) => amount !== 0n);
}

/** The cost that a provider charges. */
export function costOf(price: TokenPrices, usage: Usage): Dust {
  const { promptTokens, cachedTokens, cacheWriteTokens = 0, completionTokens } = usage;
  const read = Math.min(cachedTokens, promptTokens);
  const written = Math.min(cacheWriteTokens, promptTokens - read);
  return (
    BigInt(promptTokens - read - written) * price.inputPerMTok +
    BigInt(read) * price.cacheReadPerMTok +
    BigInt(written) * price.cacheWritePerMTok +
    BigInt(completionTokens) * price.outputPerMTok
  );
}

/** The highest price that a token of a prompt can have. */
function dearest({ inputPerMTok, cacheReadPerMTok, cacheWritePerMTok }: TokenPrices): bigint {
  const cached = cacheReadPerMTok > cacheWritePerMTok ? cacheReadPerMTok : cacheWritePerMTok;
  return inputPerMTok > cached ? inputPerMTok : cached;
}
