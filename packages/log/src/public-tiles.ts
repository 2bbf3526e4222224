import { encodeEntries, parseTilePath, TallyError } from '@tallystick/core';
import type { LogStore } from './log-store.ts';
import type { LogFiles } from './storage/log-files.ts';
import { HASH_BYTES } from './tree-hash.ts';
import { hashesAt } from './tree-shape.ts';

/**
 * The bytes at a C2SP tlog-tiles path, of a full or partial tile; null where there is nothing. They come from the files
 * in the storage if there is one; from the database, and within the newest signed checkpoint, what those lack: all of it
 * until the storage is filled, then partial tiles that no published checkpoint needs. A partial tile of any width is the
 * start of the full one, so all of them are immutable.
 * @throws log_corrupted when the store lacks a tile of the checkpoint's tree
 */
export async function publicTile(
  store: LogStore,
  files: LogFiles | null,
  path: string,
): Promise<Uint8Array | null> {
  const tile = parseTilePath(path);
  if (tile === null) return null;
  const stored = await files?.tile(path);
  if (stored) return stored;
  const size = (await store.newestCheckpoint())?.size ?? 0;
  const level = tile.kind === 'entries' ? 0 : tile.level;
  const from = tile.index * 256;
  const to = from + tile.width;
  if (to > hashesAt(size, level)) return null;
  const bytes =
    tile.kind === 'entries' ? await store.readLeaves(from, to) : await store.getTile(level, tile.index);
  if (bytes === null || bytes.length < tile.width * HASH_BYTES) {
    throw new TallyError('log_corrupted', `A tree of ${size} leaves needs ${path}, which is missing.`);
  }
  const hashes = bytes.subarray(0, tile.width * HASH_BYTES);
  return tile.kind === 'entries' ? encodeEntries(hashes) : hashes;
}
