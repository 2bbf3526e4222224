/** Base units of the asset: millionths of a USDC. */
export type BaseUnits = bigint;

/**
 * `settling`: its settlement is under way, or its outcome unknown. `serving`: it is verified, and what it pays for is
 * under way, so that the price is still open. `settled`: paid, and recorded so. `delivered`: and answered.
 * `failed`: nothing was paid. `owed`: delivered, and not paid.
 */
export type PaymentState = 'settling' | 'serving' | 'settled' | 'delivered' | 'failed' | 'owed';

/** One x402 payment. */
export interface PaymentRow {
  /** Made of what can be used once: of an authorization its nonce, of a voucher its place in the channel. */
  readonly id: string;
  /** Hash of payer and payment identifier; null where the payer gave none. Unique. */
  readonly identifier: string | null;
  readonly scheme: string;
  /** Address, lower case. */
  readonly payer: string;
  /** The most that it can take. */
  readonly amount: BaseUnits;
  /** What it took. */
  readonly charged: BaseUnits;
  /** Hex hash of the request that it pays for. */
  readonly requestHash: string;
  /** JSON text: what its scheme needs to find it on the chain again. */
  readonly detail: string;
  readonly state: PaymentState;
  readonly tx: string | null;
  readonly receiptId: string | null;
  /** Unix seconds until which whoever works on it is waited for. */
  readonly leaseUntil: number;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** A channel of vouchers. */
export interface ChannelRow {
  readonly id: string;
  /** From 1. */
  readonly version: number;
  /** What is charged and not yet claimed on the chain. */
  readonly claimable: BaseUnits;
  /** JSON text. */
  readonly document: string;
}

/** What changes with a step of a payment; what is not given stays. */
export type PaymentStep = Partial<Omit<PaymentRow, 'id' | 'scheme' | 'payer' | 'createdAt'>>;

/** x402 payments and channels. Errors, durability and concurrency are those of `Store`. */
export interface PaymentStore {
  /** Adds a payment, unless its id or identifier is known: then that one is answered. */
  begin(row: PaymentRow): Promise<PaymentRow | null>;
  find(id: string): Promise<PaymentRow | null>;
  findByIdentifier(identifier: string): Promise<PaymentRow | null>;
  findByTx(tx: string): Promise<PaymentRow[]>;
  /** Compare-and-swap: only where the payment is still in the state, and under the lease, that `seen` shows. */
  step(seen: PaymentRow, step: PaymentStep): Promise<boolean>;
  /** The payments of a payer that are `settling`, `serving`, `owed` or `failed`, the latest lease first; at most 100. */
  openOf(payer: string): Promise<PaymentRow[]>;
  /** Those of anybody that are `settling` or `serving` with a lease that ended at `now`; at most `limit`. */
  abandoned(now: number, limit: number): Promise<PaymentRow[]>;

  channel(id: string): Promise<ChannelRow | null>;
  /** Compare-and-swap: version 1 inserts, version n replaces n-1. */
  putChannel(row: ChannelRow): Promise<boolean>;
  /** Deletes a channel that is still at this version. */
  deleteChannel(id: string, version: number): Promise<boolean>;
  /** Channels with something to claim, in the order of their ids. */
  claimable(after: string, limit: number): Promise<ChannelRow[]>;
}
