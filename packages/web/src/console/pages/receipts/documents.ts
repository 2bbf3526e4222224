/** A row of `GET /v1/receipts`. */
export interface ListedReceipt {
  readonly receipt_id: string;
  readonly at: string;
  readonly profile: string;
  readonly purpose: string | null;
  readonly did: string | null;
  readonly key: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  /** Of the receipt of a call: `ok` or `error`. */
  readonly status: string | null;
  readonly request_hash: string | null;
  readonly session: string | null;
  readonly cost_usdc: string | null;
  readonly anchored: { readonly leaf_index: number | null };
  readonly expires_at: string;
}

/** A row of `GET /v1/receipts/counts`. */
export interface ReceiptCount {
  readonly at: string;
  readonly receipts: number;
}
