import { concatBytes } from '@tallystick/core';
import type { Leaf, Tile } from '@tallystick/log';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { LogQueries } from './log-queries.ts';
import type { LogTables } from './log-tables.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

/** In process a statement costs little, so each row has its own. */
export function sqliteLogTables(db: Kysely<Schema>, { leafByHash }: LogQueries): LogTables {
  const insertLeaf = statement((v: Leaf) =>
    db.insertInto('leaves').values({ idx: v.index, hash: v.hash, batch_at: v.batchAt }),
  );
  const putTile = statement((v: Tile) =>
    raw(
      db,
      sql`
        insert into tiles (level, idx, hashes) values (${v.level}, ${v.index}, ${v.hashes})
        on conflict (level, idx) do update set hashes = excluded.hashes
        where substr(excluded.hashes, 1, length(tiles.hashes)) = tiles.hashes`,
    ),
  );
  const positionsOfLeaves = statement((v: { hashes: Uint8Array; bytes: number }) =>
    raw(
      db,
      sql<{ position: number }>`
        with recursive asked (start) as (
          select 0 union all select start + 32 from asked where start + 32 < ${v.bytes}
        )
        select start / 32 as position
        from asked cross join leaves on leaves.hash = substr(${v.hashes}, start + 1, 32)`,
    ),
  );
  function* leavesOf(hashes: readonly Uint8Array[]): Work<Leaf[]> {
    const leaves: Leaf[] = [];
    for (const hash of hashes) leaves.push(...(yield* all(leafByHash, { hash })));
    return leaves;
  }

  return {
    // Most of these hashes have no leaf: one statement for all takes a quarter of the time of one for each.
    *positionsOfLeaves(hashes) {
      if (hashes.length === 0) return [];
      const joined = concatBytes(...hashes);
      const rows = yield* all(positionsOfLeaves, { hashes: joined, bytes: joined.length });
      return rows.map(({ position }) => position);
    },
    // The transaction holds the only write lock there is.
    *findLeaves(hashes, hold) {
      const held = yield* hold;
      return { leaves: yield* leavesOf(hashes), held };
    },
    *insertLeaves(leaves) {
      for (const leaf of leaves) yield* run(insertLeaf, leaf);
    },
    *putTiles(tiles) {
      let written = 0;
      for (const tile of tiles) written += yield* run(putTile, tile);
      return written;
    },
  };
}
