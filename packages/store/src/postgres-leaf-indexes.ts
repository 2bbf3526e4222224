import { sql } from 'kysely';
import { all } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';
import { type Compiler, raw, statement } from './statement.ts';

export function postgresLeafIndexes(db: Compiler): SqlDatabase['indexesOfLeaves'] {
  const query = statement((v: { hashes: readonly Uint8Array[] }) =>
    raw(
      db,
      sql<{ position: number; index: number }>`
        select asked.position - 1 as position, leaves.idx as "index"
        from unnest(${v.hashes}::bytea[]) with ordinality as asked (hash, position)
        join leaves on leaves.hash = asked.hash`,
    ),
  );
  return function* (hashes) {
    return hashes.length === 0 ? [] : yield* all(query, { hashes });
  };
}
