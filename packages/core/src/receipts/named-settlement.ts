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
  /** The account that paid; null where the receipt does not say it. */
  readonly payer: string | null;
}

/** An amount, with its fraction as a group. */
export const DECIMAL = /^(0|[1-9]\d{0,30})(?:\.(\d{1,30}))?$/;

/** Reads the payment that a receipt names; null without a transaction hash of an EVM chain. Other malformed members are null. */
export function namedSettlement(members: {
  readonly chainId: number | null;
  readonly asset: string | null;
  readonly tx: JsonValue | undefined;
  readonly amount: JsonValue | undefined;
  readonly payer?: JsonValue | undefined;
}): NamedSettlement | null {
  const tx = textLike(/^0x[0-9a-f]{64}$/i, members.tx);
  if (tx === null) return null;
  return {
    chainId: members.chainId,
    asset: members.asset,
    tx: tx.toLowerCase(),
    amount: textLike(DECIMAL, members.amount),
    payer: textLike(/^0x[0-9a-f]{40}$/i, members.payer),
  };
}

function textLike(pattern: RegExp, value: JsonValue | undefined): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}
