import type { Leaf } from '@tallystick/log';
import { type Kysely, sql } from 'kysely';
import type { LogTables } from './log-tables.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

/** A statement for all rows at once, since each costs a round trip. */
export function postgresLogTables(db: Kysely<Schema>): LogTables {
  const { findLeaves, positionsOfLeaves, insertLeaves, putTiles } = logStatements(db);

  function* find(hashes: readonly Uint8Array[]): Work<Leaf[]> {
    return hashes.length === 0 ? [] : yield* all(findLeaves, { hashes });
  }

  return {
    *positionsOfLeaves(hashes) {
      const rows = hashes.length === 0 ? [] : yield* all(positionsOfLeaves, { hashes });
      return rows.map(({ position }) => position);
    },
    // Each statement sees what is committed when it starts: the second one, all that came before the lock.
    *findLeaves(hashes, hold) {
      const early = yield* find(hashes);
      const held = yield* hold;
      const found = new Set(early.map(({ hash }) => hexOf(hash)));
      const late = yield* find(hashes.filter((hash) => !found.has(hexOf(hash))));
      return { leaves: [...early, ...late], held };
    },
    *insertLeaves(leaves) {
      yield* run(insertLeaves, {
        indexes: leaves.map(({ index }) => index),
        hashes: leaves.map(({ hash }) => hash),
        batches: leaves.map(({ batchAt }) => batchAt),
      });
    },
    *putTiles(tiles) {
      return yield* run(putTiles, {
        levels: tiles.map(({ level }) => level),
        indexes: tiles.map(({ index }) => index),
        hashes: tiles.map(({ hashes }) => hashes),
      });
    },
  };
}

function logStatements(db: Kysely<Schema>) {
  return {
    findLeaves: statement((v: { hashes: readonly Uint8Array[] }) =>
      raw(
        db,
        sql<Leaf>`
          select idx as index, hash, batch_at as "batchAt" from leaves
          where hash = any(${v.hashes}::bytea[])`,
      ),
    ),
    positionsOfLeaves: statement((v: { hashes: readonly Uint8Array[] }) =>
      raw(
        db,
        sql<{ position: number }>`
          select asked.position - 1 as position
          from unnest(${v.hashes}::bytea[]) with ordinality as asked (hash, position)
          join leaves on leaves.hash = asked.hash`,
      ),
    ),
    insertLeaves: statement((v: { indexes: number[]; hashes: Uint8Array[]; batches: number[] }) =>
      raw(
        db,
        sql`
          insert into leaves (idx, hash, batch_at)
          select * from unnest(${v.indexes}::bigint[], ${v.hashes}::bytea[], ${v.batches}::bigint[])`,
      ),
    ),
    putTiles: statement((v: { levels: number[]; indexes: number[]; hashes: Uint8Array[] }) =>
      raw(
        db,
        sql`
          insert into tiles (level, idx, hashes)
          select * from unnest(${v.levels}::bigint[], ${v.indexes}::bigint[], ${v.hashes}::bytea[])
          on conflict (level, idx) do update set hashes = excluded.hashes
          where substr(excluded.hashes, 1, length(tiles.hashes)) = tiles.hashes`,
      ),
    ),
  };
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex');
}
