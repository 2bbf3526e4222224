import type { LogStore } from './log-store.ts';
import type { TileSource } from './tree-reader.ts';

/** Reads the tiles of a store. */
export function storeTiles(store: Pick<LogStore, 'getTile'>): TileSource {
  return (level, index) => store.getTile(level, index);
}
