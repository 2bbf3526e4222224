/** Base units of the asset: millionths of a USDC. */
export type BaseUnits = bigint;

/**
 * `settling`: its settlement is under way, or the outcome unknown. `serving`: it is verified and its call is under way,
 * so that the price is still open. `settled`: paid, and stored as paid. `delivered`: also answered. `failed`: nothing
 * was paid. `owed`: delivered, and not paid.
 */
export type PaymentState = 'settling' | 'serving' | 'settled' | 'delivered' | 'failed' | 'owed';

/** One x402 payment. */
export interface PaymentRow {
  /** Derived from the part that can be used only once: the nonce of an authorization, or a voucher's place in its channel. */
  readonly id: string;
  /** Hash of payer and payment identifier; null where the payer gave none. Unique. */
  readonly identifier: string | null;
  readonly scheme: string;
  /** Address, lower case. */
  readonly payer: string;
  /** The most that it can be charged. */
  readonly amount: BaseUnits;
  /** What it was charged. */
  readonly charged: BaseUnits;
  /** Hex hash of the request that it pays for. */
  readonly requestHash: string;
  /** JSON text with what its scheme needs to find it on the chain. */
  readonly detail: string;
  readonly state: PaymentState;
  readonly tx: string | null;
  readonly receiptId: string | null;
  /** Unix seconds until which the process that works on it has it to itself. */
  readonly leaseUntil: number;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** A channel from which vouchers are paid. */
export interface ChannelRow {
  readonly id: string;
  /** From 1. */
  readonly version: number;
  /** Amount that is charged and not yet claimed on the chain. */
  readonly claimable: BaseUnits;
  /** JSON text. */
  readonly document: string;
}

/** The changes of one step of a payment. Members that are left out stay as they are. */
export type PaymentStep = Partial<Omit<PaymentRow, 'id' | 'scheme' | 'payer' | 'createdAt'>>;

/**
 * Seconds for which a payment that is over is kept: longer than the receipt that it paid for. One that is presented again after that is
 * verified like a new one, and the chain has its nonce.
 */
export const PAYMENT_SECONDS = 400 * 86_400;

/** x402 payments and channels. Errors, durability and concurrency are those of `Store`. */
export interface PaymentStore {
  /** Adds a payment and returns null, unless its id or identifier exists: then returns the existing payment. */
  begin(row: PaymentRow): Promise<PaymentRow | null>;
  find(id: string): Promise<PaymentRow | null>;
  findByIdentifier(identifier: string): Promise<PaymentRow | null>;
  findByTx(tx: string): Promise<PaymentRow[]>;
  /** Compare-and-swap: changes the payment only if it still has the state and the lease of `seen`. Returns whether it did. */
  step(seen: PaymentRow, step: PaymentStep): Promise<boolean>;
  /** The payments of a payer that are `settling`, `serving`, `owed` or `failed`, the latest lease first; at most 100. */
  openOf(payer: string): Promise<PaymentRow[]>;
  /** At most `limit` payments that are `settling` or `serving` with a lease that had ended at `now`. */
  abandoned(now: number, limit: number): Promise<PaymentRow[]>;
  /**
   * Deletes at most `limit` payments that are `settled`, `delivered` or `failed` and began before `before`, in Unix seconds; how many
   * they were.
   */
  purge(before: number, limit: number): Promise<number>;

  channel(id: string): Promise<ChannelRow | null>;
  /** Compare-and-swap: version 1 inserts, version n replaces n-1. Returns whether it did. */
  putChannel(row: ChannelRow): Promise<boolean>;
  /** Deletes a channel if it still has this version. Returns whether it did. */
  deleteChannel(id: string, version: number): Promise<boolean>;
  /** Channels with something to claim, after the id `after`, by id. */
  claimable(after: string, limit: number): Promise<ChannelRow[]>;
}
