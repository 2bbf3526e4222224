import { sql } from 'kysely';
import { all } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';
import { type Compiler, raw, statement } from './statement.ts';

export function postgresLeafPositions(db: Compiler): SqlDatabase['positionsOfLeaves'] {
  const query = statement((v: { hashes: readonly Uint8Array[] }) =>
    raw(
      db,
      sql<{ position: number }>`
        select asked.position - 1 as position
        from unnest(${v.hashes}::bytea[]) with ordinality as asked (hash, position)
        join leaves on leaves.hash = asked.hash`,
    ),
  );
  return function* (hashes) {
    const rows = hashes.length === 0 ? [] : yield* all(query, { hashes });
    return rows.map(({ position }) => position);
  };
}
