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
export interface Migration {
  readonly name: string;
  statements(db: Compiler, types: ColumnTypes): Compilable[];
}
