import type { Dust, Entry, NanoUsdc } from '@tallystick/ledger';
import { callerAccount, providerAccount, REVENUE } from '@tallystick/ledger';
import type { Usage } from './types.ts';

/** Nano-USDC per million tokens; one token is so many millionths of a nano-USDC, which is the unit of dust. */
export interface TokenPrices {
  readonly inputPerMTok: bigint;
  readonly outputPerMTok: bigint;
  readonly cacheReadPerMTok: bigint;
  readonly cacheWritePerMTok: bigint;
}

const DUST_PER_NANO = 1_000_000n;

export interface PricedCall {
  readonly price: TokenPrices;
  /** What is billed, after compression: what the provider counted, unless that is not believed. */
  readonly usage: Usage;
  /** What the provider counted, where that is not believed; absent where it is billed. */
  readonly claimed?: Usage;
  /** What the tokens that compression took out would have cost: charged, not paid to the provider. */
  readonly gross: Dust;
  /** What compression may have cost elsewhere: of the provider's cache, and by further calls that it led to. */
  readonly lost: Dust;
  /** The caller's share of the saving, in percent (specification 2.11). */
  readonly sharePercent: number;
  /** A member gets its share credited; anyone else, as a discount on the same bill. */
  readonly member: string | null;
  /** The payer's, from the reservation. */
  readonly dust: Dust;
}

export interface Bill {
  /** What the payer pays: rounded down. */
  readonly charge: NanoUsdc;
  /** What the tokens that are billed cost: rounded down. Never more than the charge less the share. */
  readonly cost: NanoUsdc;
  /** What the provider will ask for: rounded down. The cost, unless its counts are not believed; may be more than the charge. */
  readonly owed: NanoUsdc;
  /** What the member gets back: rounded down. 0 where the share is a discount. */
  readonly share: NanoUsdc;
  /** What the discount took off the charge, rounded down; it is not charged. */
  readonly discount: NanoUsdc;
  /** What the caller would have paid more without compression, rounded down; of this the share is part. */
  readonly saving: NanoUsdc;
  /** What rounding the charge left over, for the payer's next bill: less than a nano-USDC. */
  readonly dust: Dust;
}

/** The most that a call can cost, rounded up: what to reserve for it. */
export function ceiling(price: TokenPrices, promptTokens: number, maxOutputTokens: number): NanoUsdc {
  const dust = BigInt(promptTokens) * dearest(price) + BigInt(maxOutputTokens) * price.outputPerMTok;
  // One more for the dust that the payer carries.
  return (dust + DUST_PER_NANO - 1n) / DUST_PER_NANO + 1n;
}

/**
 * The bill of a call, exact but for one rounding of each amount. It is what the call would have cost uncompressed,
 * less the share: never more than that where compression saved anything, and no mark-up on the cost where it did not.
 * As savings never lower the cost, a longer prompt never pays: charge - share >= cost. Where a provider is not believed,
 * that holds of the tokens that are billed, and what it asks for beyond them is the service's loss.
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
 * A bill that is no more than what was put aside for it. What is over is the service's loss: the caller was
 * promised a limit. The share is part of the charge that comes back, so it shrinks with it.
 */
export function capBill(bill: Bill, limit: NanoUsdc): Bill {
  if (bill.charge <= limit) return bill;
  const spare = limit > bill.cost ? limit - bill.cost : 0n;
  return { ...bill, charge: limit, share: bill.share < spare ? bill.share : spare, dust: 0n };
}

/**
 * The entries of a bill. What is neither the provider's nor the member's is the service's, which is a loss where the
 * provider will ask for more than was charged.
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

/** What a provider charges. */
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

/** Of the prices that a prompt's token can have. */
function dearest({ inputPerMTok, cacheReadPerMTok, cacheWritePerMTok }: TokenPrices): bigint {
  const cached = cacheReadPerMTok > cacheWritePerMTok ? cacheReadPerMTok : cacheWritePerMTok;
  return inputPerMTok > cached ? inputPerMTok : cached;
}
