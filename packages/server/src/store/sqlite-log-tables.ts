import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { LogQueries } from './log-queries.ts';
import type { Leaf, Tile } from './log-store.ts';
import type { LogTables } from './log-tables.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run } from './work.ts';

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
  return {
    // The transaction holds the only write lock there is.
    *findLeaves(hashes, hold) {
      const held = yield* hold;
      const leaves: Leaf[] = [];
      for (const hash of hashes) leaves.push(...(yield* all(leafByHash, { hash })));
      return { leaves, held };
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
