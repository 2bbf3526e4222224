/** What the database says of the whole service, over all its processes. Nothing in it is a caller's content. */
export interface Operations {
  /** Version of the database's schema. */
  readonly schemaVersion: number;
  /** Processes whose lease runs. */
  readonly processes: number;
  /** Who leads the log, and for how many seconds the lease still runs; null where nobody does. */
  readonly logLease: { readonly holder: string; readonly seconds: number } | null;
  /** Postings that are not final, by their state. */
  readonly postings: Readonly<Record<string, number>>;
  /** The newest signed checkpoints, the newest first. */
  readonly checkpoints: readonly { readonly size: number; readonly note: string }[];
  /** Refunds that wait for the operator, or are being paid: the oldest ones. */
  readonly refunds: readonly OpenPayout[];
  /** Payouts of each kind that wait or are being paid. */
  readonly payouts: Readonly<Record<string, number>>;
}

/** A payout that has not ended. */
export interface OpenPayout {
  readonly id: string;
  readonly state: string;
  readonly network: string;
  readonly address: string;
  /** Millionths of USDC, decimal. */
  readonly amount: string;
  readonly reason: string | null;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly note: string | null;
}

/** Looks over the whole service. Errors and ordering are those of `Store`. */
export interface OperationsStore {
  /** @param limit most refunds */
  look(limit: number): Promise<Operations>;
}
