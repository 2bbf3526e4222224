import type { Compilable, RawBuilder } from 'kysely';
import type { Compiler } from '../statement.ts';

/** Column types that dialects write differently. */
export interface ColumnTypes {
  /** Text that is compared and ordered by its bytes. */
  readonly key: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** An integer primary key whose rows are kept in its order. */
  readonly ordinal: RawBuilder<unknown>;
  /** Ends a table whose rows are kept in the order of its primary key, where a database can. */
  readonly clustered: RawBuilder<unknown>;
}

/** A step forward. There is none back: restore a backup instead. */
export interface Migration {
  readonly name: string;
  statements(db: Compiler, types: ColumnTypes): Compilable[];
}
