import { canonicalize } from '../json/canonical.ts';
import type { JsonValue } from '../json/types.ts';

/** The payment that a receipt names as its own. */
export interface NamedSettlement {
  /** The EIP-155 id; null where the receipt names no EVM chain. */
  readonly chainId: number | null;
  readonly asset: string | null;
  /** `0x` and 64 hex, in lower case. */
  readonly tx: string;
  /** Decimal text, in the asset; null where the receipt does not say it. */
  readonly amount: string | null;
  /** The account that paid, or whatever else the receipt names as the payer; null where it names none. */
  readonly payer: string | null;
}

/** An amount, with its fraction as a group. */
export const DECIMAL = /^(0|[1-9]\d{0,30})(?:\.(\d{1,30}))?$/;

/** Reads the payment that a receipt names; null without a transaction hash of an EVM chain. An amount that is none is null. */
export function namedSettlement(members: {
  readonly chainId: number | null;
  readonly asset: string | null;
  readonly tx: JsonValue | undefined;
  readonly amount: JsonValue | undefined;
  readonly payer?: JsonValue | undefined;
}): NamedSettlement | null {
  const tx = textLike(/^0x[0-9a-fA-F]{64}$/, members.tx);
  if (tx === null) return null;
  return {
    chainId: members.chainId,
    asset: members.asset,
    tx: tx.toLowerCase(),
    amount: textLike(DECIMAL, members.amount),
    payer: payerIn(members.payer ?? null),
  };
}

/** What is no account has paid nothing: it stays, so that no transfer is found to be from it. */
function payerIn(payer: JsonValue): string | null {
  return payer === null || typeof payer === 'string' ? payer : canonicalize(payer);
}

function textLike(pattern: RegExp, value: JsonValue | undefined): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}
