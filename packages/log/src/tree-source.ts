import type { LogStore } from './log-store.ts';
import type { TileSource } from './tree-reader.ts';

export function storeTiles(store: Pick<LogStore, 'getTile'>): TileSource {
  return (level, index) => store.getTile(level, index);
}
