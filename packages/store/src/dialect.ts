import type { RawBuilder } from 'kysely';
import type { RowSource } from './row-source.ts';

/** What the shared statements hold that dialects write differently. */
export interface Dialect {
  /** Ends a select whose row is kept from other writers until the transaction ends. */
  readonly forUpdate: RawBuilder<unknown>;
  /**
   * Ends a select whose rows are about to be deleted, so that a purge never waits for, or deadlocks with, a
   * write. Both are empty where there is only one writer.
   */
  readonly skipLocked: RawBuilder<unknown>;
  /** The database's clock: unix seconds, with fractions. */
  readonly now: RawBuilder<number>;
  /** JSON that is given as text, for `->>`. */
  readonly json: (text: string) => RawBuilder<unknown>;
  /** Whether a transaction holds the only write lock there is, so that reading a row keeps others from it. */
  readonly soleWriter: boolean;
  /** How statements take many rows. */
  readonly rows: RowSource;
}
