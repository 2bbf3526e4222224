import type { Leaf, Tile } from '@tallystick/log';
import type { Work } from './work.ts';

/** The log's writes of many rows, which each database does in its own way. All run inside a transaction. */
export interface LogTables {
  /**
   * The leaves of those hashes that have one. `hold` keeps other writers out of the log, which is done late
   * where that makes others wait; no leaf is missing from the answer after it.
   */
  findLeaves<T>(hashes: readonly Uint8Array[], hold: Work<T>): Work<{ leaves: Leaf[]; held: T }>;
  /** Positions, from 0, of those hashes that have a leaf, in any order. Every hash must be of 32 bytes. One statement. */
  positionsOfLeaves(hashes: readonly Uint8Array[]): Work<number[]>;
  insertLeaves(leaves: readonly Leaf[]): Work<void>;
  /** Answers how many were written: not those that would change a hash that is there. */
  putTiles(tiles: readonly Tile[]): Work<number>;
}
