import type { Compilable, RawBuilder } from 'kysely';
import type { Compiler } from '../statement.ts';

/** Column types that databases write differently. */
export interface ColumnTypes {
  /** Text that is compared and sorted by its bytes. */
  readonly key: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** An integer primary key in whose order the rows are stored. */
  readonly ordinal: RawBuilder<unknown>;
  /** Ends a table whose rows are stored in the order of its primary key, where the database can do that. */
  readonly clustered: RawBuilder<unknown>;
}

/** A migration to the next version. There is no way back: restore a backup instead. */
export type Migration = ChangedSchema | AddedIndex;

/** A migration that runs in one transaction. */
export interface ChangedSchema {
  readonly name: string;
  /**
   * The least schema version that a release must know to work on the database after this migration. Set only by a
   * migration that takes away what earlier releases use.
   */
  readonly needs?: number;
  statements(db: Compiler, types: ColumnTypes): Compilable[];
}

/** A migration that makes an index of a table with rows. PostgreSQL makes it while others write. */
export interface AddedIndex {
  readonly name: string;
  readonly index: {
    readonly name: string;
    /** The SQL after `on`: the table, its columns, and the condition for its rows. */
    readonly on: RawBuilder<unknown>;
  };
}
