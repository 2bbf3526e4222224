import type { RawBuilder } from 'kysely';
import type { RowSource } from './row-source.ts';

/** The parts of shared statements that databases write differently. */
export interface Dialect {
  /** Ends a select so that others cannot write its row until the transaction ends. */
  readonly forUpdate: RawBuilder<unknown>;
  /**
   * Ends a select of rows to be deleted, so that a purge never waits for, or deadlocks with, a write. Like `forUpdate`,
   * it is empty where there is only one writer.
   */
  readonly skipLocked: RawBuilder<unknown>;
  /** The database's clock: unix seconds, with fractions. */
  readonly now: RawBuilder<number>;
  /** Follows a table's name to say which index a select takes, where the database would guess without statistics. */
  readonly indexedBy: (index: string) => RawBuilder<unknown>;
  /** JSON from text, for `->>`. */
  readonly json: (text: string) => RawBuilder<unknown>;
  /** Whether a transaction holds the database's only write lock, so that a row that it reads cannot be changed by others. */
  readonly soleWriter: boolean;
  /** How statements take many rows. */
  readonly rows: RowSource;
}
