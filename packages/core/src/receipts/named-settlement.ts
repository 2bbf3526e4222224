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
