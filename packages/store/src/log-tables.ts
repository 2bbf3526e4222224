import type { ChainPosting, Leaf, Tile } from '@tallystick/log';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { table } from './table.ts';

/** A leaf in the list of an account, or in the part of it that came with one key. */
export interface AnchorRow {
  /** The account, or what `keyList` gives. */
  readonly owner: string;
  readonly index: number;
}

type PostingTime = Pick<ChainPosting, 'sequence' | 'batchAt'>;

/** Name of the part of an account's list that came with one of its keys. No account's name has a space. */
export function keyList(owner: string, key: string): string {
  return `${owner} ${key}`;
}

/** The log's statements about many rows. All run inside a transaction. */
export interface LogTables {
  /**
   * The leaves of those hashes that have one. `hold` runs late, since it locks other writers out of the log; the answer
   * is complete as of then.
   */
  findLeaves<T>(hashes: readonly Uint8Array[], hold: Work<T>): Work<{ leaves: Leaf[]; held: T }>;
  /** The leaves of these indexes. */
  leavesAt(indexes: readonly number[]): Work<Leaf[]>;
  /** When the postings of these sequences were scheduled. */
  postingsAt(sequences: readonly number[]): Work<PostingTime[]>;
  insertLeaves(leaves: readonly Leaf[]): Work<unknown>;
  /** Notes who handed leaves in. A leaf stays in the list that it is in. */
  insertAnchors(anchors: readonly AnchorRow[]): Work<unknown>;
  /** Stores tiles, except those that would change a stored hash. Returns how many were written. */
  putTiles(tiles: readonly Tile[]): Work<number>;
}

const LEAVES = table<Leaf>(
  'leaves',
  ['index'],
  { index: 'integer', hash: 'bytes', batchAt: 'integer' },
  { index: 'idx' },
);
const POSTINGS = table<PostingTime>('postings', ['sequence'], { sequence: 'integer', batchAt: 'integer' });
const ANCHORS = table<AnchorRow>(
  'anchor_list',
  ['owner', 'index'],
  { owner: 'text', index: 'integer' },
  { index: 'idx' },
);
const TILES = table<Tile>(
  'tiles',
  ['level', 'index'],
  { level: 'integer', index: 'integer', hashes: 'bytes' },
  { index: 'idx' },
);

export function logTables(bulk: Bulk, { soleWriter }: Dialect): LogTables {
  const find = bulk.lookUp(
    LEAVES,
    'hash',
    (isOneOf) => sql<Leaf>`
      select idx as "index", hash, batch_at as "batchAt" from leaves where hash ${isOneOf}`,
  );
  return {
    *findLeaves(hashes, hold) {
      if (soleWriter) return { held: yield* hold, leaves: yield* find(hashes) };
      // Each statement sees what is committed when it starts, so the second one sees all that came before the lock.
      const early = yield* find(hashes);
      const held = yield* hold;
      const found = new Set(early.map(({ hash }) => hexOf(hash)));
      const late = yield* find(hashes.filter((hash) => !found.has(hexOf(hash))));
      return { leaves: [...early, ...late], held };
    },
    leavesAt: bulk.lookUp(
      LEAVES,
      'index',
      (isOneOf) => sql<Leaf>`
        select idx as "index", hash, batch_at as "batchAt" from leaves where idx ${isOneOf}`,
    ),
    postingsAt: bulk.lookUp(
      POSTINGS,
      'sequence',
      (isOneOf) => sql<PostingTime>`
        select sequence, batch_at as "batchAt" from postings where sequence ${isOneOf}`,
    ),
    insertLeaves: bulk.insert(LEAVES),
    insertAnchors: bulk.insertOr(ANCHORS, sql`nothing`),
    putTiles: bulk.countInsertedOr(
      TILES,
      sql`update set hashes = excluded.hashes
        where substr(excluded.hashes, 1, length(tiles.hashes)) = tiles.hashes`,
    ),
  };
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex');
}
