import type { RawBuilder } from 'kysely';

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
}
