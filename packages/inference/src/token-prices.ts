import type { Dust, Entry, NanoUsdc } from '@tallystick/ledger';
import { callerAccount, providerAccount, REVENUE } from '@tallystick/ledger';
import type { ServiceTier, Usage } from './types.ts';

/** Nano-USDC per million tokens; so one token costs as many millionths of a nano-USDC, the unit of dust. */
export interface TokenPrices {
  readonly inputPerMTok: bigint;
  readonly outputPerMTok: bigint;
  readonly cacheReadPerMTok: bigint;
  readonly cacheWritePerMTok: bigint;
  /** Writing what the provider's cache keeps for an hour or longer; absent where that costs the same. */
  readonly cacheWriteLongPerMTok?: bigint;
}

/** Other prices of a model, for the calls that fulfil every condition. */
export interface Tariff extends TokenPrices {
  /** Only for prompts of more tokens than this, cached ones included. */
  readonly aboveTokens?: number;
  /** Only for calls that the provider served in this class. */
  readonly serviceTier?: ServiceTier;
}

/** The prices of a model, and those for calls of other kinds. Of the tariffs that apply, the last one counts. */
export interface Tariffs extends TokenPrices {
  readonly tariffs?: readonly Tariff[];
}

/** What a tariff depends on. */
export interface TariffTerms {
  readonly promptTokens: number;
  readonly serviceTier?: ServiceTier;
}

/** The prices that apply to one call of a provider. */
export function tariffFor(price: Tariffs, { promptTokens, serviceTier }: TariffTerms): TokenPrices {
  const applies = (tariff: Tariff): boolean =>
    promptTokens > (tariff.aboveTokens ?? -1) &&
    (tariff.serviceTier === undefined || tariff.serviceTier === serviceTier);
  return price.tariffs?.findLast(applies) ?? price;
}

const DUST_PER_NANO = 1_000_000n;

export interface PricedCall {
  readonly price: Tariffs;
  /** What is billed of each call to the provider, after compression: its count, unless that is not believed. */
  readonly rounds: readonly Usage[];
  /** The provider's counts if one of them is not believed; absent if they are billed. */
  readonly claimed?: readonly Usage[];
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

/**
 * The most that a call can cost, rounded up: the amount to reserve. More tokens never have a cheaper tariff
 * (`toPrice`), so this also holds for calls of fewer tokens, and for several that have so many together.
 */
export function ceiling(price: Tariffs, terms: TariffTerms, maxOutputTokens: number): NanoUsdc {
  const { promptTokens } = terms;
  // A provider may serve a call in the standard class though the caller asked for another one.
  const costs = [tariffFor(price, terms), tariffFor(price, { promptTokens })].map(
    (tariff) => BigInt(promptTokens) * dearest(tariff) + BigInt(maxOutputTokens) * tariff.outputPerMTok,
  );
  const dust = largest(costs);
  // One more for the dust that the payer carries.
  return (dust + DUST_PER_NANO - 1n) / DUST_PER_NANO + 1n;
}

/** The most that an answer can cost, rounded up. */
export function outputCeiling(price: Tariffs, terms: TariffTerms, maxOutputTokens: number): NanoUsdc {
  const dust = BigInt(maxOutputTokens) * tariffFor(price, terms).outputPerMTok;
  return (dust + DUST_PER_NANO - 1n) / DUST_PER_NANO;
}

/**
 * The bill of a call, exact except for one rounding of each amount. The charge is what the call would have cost
 * uncompressed, less the share: never more than that if compression saved anything, and no mark-up on the cost if it
 * did not. Savings never lower the cost, so a longer prompt never pays: charge - share >= cost. If a provider is not
 * believed, this holds for the billed tokens, and what it asks for in addition is the service's loss.
 */
export function priceCall(call: PricedCall): Bill {
  const { price, rounds, claimed = rounds, gross, lost, sharePercent, member } = call;
  const cost = costOfAll(price, rounds);
  const saving = gross > lost ? gross - lost : 0n;
  const share = (saving * BigInt(sharePercent)) / 100n;
  const discount = member === null ? share : 0n;
  const total = cost + saving - discount + call.dust;
  return {
    charge: total / DUST_PER_NANO,
    cost: cost / DUST_PER_NANO,
    owed: costOfAll(price, claimed) / DUST_PER_NANO,
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

/** The cost that a provider charges for one call, by the tariff that applies to it. */
export function costOf(price: Tariffs, usage: Usage): Dust {
  const { promptTokens, cachedTokens, cacheWriteTokens = 0, longWriteTokens = 0, completionTokens } = usage;
  const tariff = tariffFor(price, usage);
  const read = Math.min(cachedTokens, promptTokens);
  const written = Math.min(cacheWriteTokens, promptTokens - read);
  const long = Math.min(longWriteTokens, written);
  return (
    BigInt(promptTokens - read - written) * tariff.inputPerMTok +
    BigInt(read) * tariff.cacheReadPerMTok +
    BigInt(written - long) * tariff.cacheWritePerMTok +
    BigInt(long) * (tariff.cacheWriteLongPerMTok ?? tariff.cacheWritePerMTok) +
    BigInt(completionTokens) * tariff.outputPerMTok
  );
}

/** The cost of several calls, each by its own tariff. */
export function costOfAll(price: Tariffs, rounds: readonly Usage[]): Dust {
  return rounds.reduce((sum, usage) => sum + costOf(price, usage), 0n);
}

/** The highest price that a token of a prompt can have. */
function dearest(prices: TokenPrices): bigint {
  const { inputPerMTok, cacheReadPerMTok, cacheWritePerMTok, cacheWriteLongPerMTok = 0n } = prices;
  return largest([inputPerMTok, cacheReadPerMTok, cacheWritePerMTok, cacheWriteLongPerMTok]);
}

function largest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((most, one) => (one > most ? one : most), 0n);
}
