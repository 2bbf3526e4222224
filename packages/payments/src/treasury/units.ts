import type { NanoUsdc } from '@tallystick/ledger';
import type { BaseUnits } from '../treasury-store.ts';

/** Nano-USDC in a base unit: a base unit of USDC is a millionth, the ledger's a billionth. */
export const NANO_PER_BASE_UNIT = 1_000n;

export function toNanoUsdc(amount: BaseUnits): NanoUsdc {
  return amount * NANO_PER_BASE_UNIT;
}

/** An amount in base units; null where it is not a whole number of them. */
export function baseUnitsOf(amount: NanoUsdc): BaseUnits | null {
  return amount % NANO_PER_BASE_UNIT === 0n ? amount / NANO_PER_BASE_UNIT : null;
}

/** An amount in base units, rounded up. */
export function toBaseUnits(amount: NanoUsdc): BaseUnits {
  return (amount + NANO_PER_BASE_UNIT - 1n) / NANO_PER_BASE_UNIT;
}
