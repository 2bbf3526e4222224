import type { NanoUsdc } from '@tallystick/ledger';
import type { BaseUnits } from '../treasury-store.ts';

/** A base unit of USDC is a millionth, the ledger's a billionth. */
const NANO_PER_BASE = 1000n;

export function nanoUsdcOf(amount: BaseUnits): NanoUsdc {
  return amount * NANO_PER_BASE;
}

/** Null where the amount is no whole number of base units. */
export function baseUnitsOf(amount: NanoUsdc): BaseUnits | null {
  return amount % NANO_PER_BASE === 0n ? amount / NANO_PER_BASE : null;
}

/** Rounded up: what covers the amount. */
export function baseUnitsFor(amount: NanoUsdc): BaseUnits {
  return (amount + NANO_PER_BASE - 1n) / NANO_PER_BASE;
}
