import { hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatTlogProof } from '@tallystick/core';
import { provenPath } from '../packages/log/src/anchored-result.ts';
import { edgeRoot, emptyEdge, growEdge } from '../packages/log/src/right-edge.ts';
import { TreeReader } from '../packages/log/src/tree-reader.ts';
import { storeTiles } from '../packages/log/src/tree-source.ts';
import { openSqliteStore } from '../packages/store/src/sqlite.ts';

const STEP = 1024;

/** Seconds to build the tree over `leaves` hashes, every tile and the root, in steps as the integrator takes them. */
export function treeSeconds(leaves: number): number {
  const entries = randomBytes(STEP * 32);
  const start = performance.now();
  let edge = emptyEdge;
  while (edge.size < leaves) {
    const count = Math.min(STEP, leaves - edge.size);
    edge = growEdge(edge, entries.subarray(0, count * 32)).edge;
  }
  edgeRoot(edge);
  return (performance.now() - start) / 1000;
}

const leaf = Buffer.alloc(33, 7);
const node = Buffer.alloc(65, 7);

/** Seconds for only the SHA-256 that a tree of `leaves` leaves needs: one hash of 33 bytes and one of 65 for each leaf. */
export function hashSeconds(leaves: number): number {
  const start = performance.now();
  for (let count = 0; count < leaves; count++) {
    hash('sha256', leaf, 'binary');
    hash('sha256', node, 'binary');
  }
  return (performance.now() - start) / 1000;
}

/** Number of tlog-proofs a second, for random leaves of a database: read, folded from tiles, checked, formatted. */
export async function proofRate(file: string, leaves: number, ms: number): Promise<number> {
  const store = await openSqliteStore(file);
  const tree = new TreeReader(storeTiles(store.log));
  const prove = async (index: number): Promise<void> => {
    const [entry, checkpoint] = [await store.log.getLeaf(index), await store.log.newestCheckpoint()];
    if (entry === null || checkpoint === null) throw new Error(`There is no proof of leaf ${index}.`);
    const path = await provenPath(tree, entry, checkpoint);
    formatTlogProof({ index, path, checkpoint: checkpoint.note });
  };
  for (let index = 0; index < leaves; index += 256) await prove(index);
  const start = performance.now();
  let proofs = 0;
  for (; performance.now() - start < ms; proofs++) await prove(Math.floor(Math.random() * leaves));
  const rate = (proofs * 1000) / (performance.now() - start);
  await store.close();
  return rate;
}

/**
 * Appends to SQLite with the store's settings and nothing around it: to a table of hashes with their unique index
 * that has `leaves` rows at first.
 */
export class RawAppends {
  readonly #database: DatabaseSync;
  #next: number;

  constructor(folder: string, leaves: number) {
    this.#database = new DatabaseSync(join(folder, 'raw.db'));
    this.#next = leaves;
    this.#database.exec(
      'PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 2000; PRAGMA synchronous = OFF; CREATE TABLE leaves (idx INTEGER PRIMARY KEY, hash BLOB NOT NULL, batch_at BIGINT NOT NULL)',
    );
    this.#append(0, leaves);
    this.#database.exec('CREATE UNIQUE INDEX by_hash ON leaves (hash); PRAGMA synchronous = FULL');
  }

  /** Rows a second, in durable transactions of `rows` rows, over `ms` milliseconds. */
  rate(rows: number, ms: number): number {
    const first = this.#next;
    const start = performance.now();
    while (performance.now() - start < ms) {
      this.#append(this.#next, rows);
      this.#next += rows;
    }
    return ((this.#next - first) * 1000) / (performance.now() - start);
  }

  #append(from: number, rows: number): void {
    const insert = this.#database.prepare('INSERT INTO leaves VALUES (?, ?, 0)');
    this.#database.exec('BEGIN IMMEDIATE');
    for (let at = from; at < from + rows; at++) insert.run(at, randomBytes(32));
    this.#database.exec('COMMIT');
  }
}
