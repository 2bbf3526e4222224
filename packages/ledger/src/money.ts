import { TallyError } from '@tallystick/core';
import type { NanoUsdc } from './ledger-store.ts';

const DECIMALS = 9;
export const NANO_PER_USDC = 10n ** BigInt(DECIMALS);
/** A billion USDC, far below the limit of a 64-bit column. */
const MAX_NANO = 10n ** 18n;

/** Parses decimal text in USDC (`12.5`, at most 9 decimals, at most a billion) as nano-USDC. @throws invalid_field */
export function parseUsdc(text: string, field = 'amount'): NanoUsdc {
  const [, whole, fraction = ''] = /^(0|[1-9]\d{0,9})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  const nanoUsdc = whole === undefined ? null : BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  if (nanoUsdc !== null && nanoUsdc <= MAX_NANO) return nanoUsdc;
  throw new TallyError(
    'invalid_field',
    'An amount is in USDC, such as 12.5: at most 9 decimals, and at most 1000000000.',
    { field },
  );
}

/** Formats nano-USDC as decimal text in USDC, exactly and without trailing zeros: `-0.000000001`, `12.5`, `3`. */
export function formatUsdc(nanoUsdc: NanoUsdc): string {
  const digits = (nanoUsdc < 0n ? -nanoUsdc : nanoUsdc).toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  const text = `${digits.slice(0, -DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
  return nanoUsdc < 0n ? `-${text}` : text;
}
