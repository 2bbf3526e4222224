import {
  encodeEntries,
  entriesPath,
  equalBytes,
  type LogKey,
  openCheckpoint,
  parseNote,
  parseTilePath,
  TallyError,
  type TilePath,
  tilePath,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Logger } from 'pino';
import { growTree, type Leads } from '../grow-tree.ts';
import type { LogStore, StoredCheckpoint, Tile } from '../log-store.ts';
import { changedPartials, edgeRoot, readEdge } from '../right-edge.ts';
import { HASH_BYTES, hashLeaves } from '../tree-hash.ts';
import { TreeReader } from '../tree-reader.ts';
import { storeTiles } from '../tree-source.ts';
import type { ObjectStorage } from './object-storage.ts';

export const CHECKPOINT = 'checkpoint';

/** Bytes of an entry in a bundle, with its length before it. */
const ENTRY_BYTES = 2 + HASH_BYTES;

/** Most leaves between two checkpoints that are published while the storage is filled. */
const STEP_LEAVES = 32_768;

/** Milliseconds after which the published checkpoint is looked at again: others may have removed or replaced it. */
const LOOK_AGAIN_MS = 30_000;
/** Milliseconds between two lines that tell how far the filling is. */
const TELL_MS = 10_000;

export interface LogFilesOptions {
  readonly store: LogStore;
  readonly storage: ObjectStorage;
  readonly log: LogKey;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * The files of a log in a storage, from which readers can have all of it: tiles, bundles of entries, and the newest
 * checkpoint. The checkpoint is written last, so that all files of its tree are there, and none gives way to one of fewer leaves. A tile
 * follows from the leaves, whose places are durable before, so whoever writes a file writes the same one; a file that differs stops
 * the log. What is missing in a new storage is filled up from the database.
 */
export class LogFiles {
  readonly #options: LogFilesOptions;
  readonly #tree: TreeReader;
  /** Size of a tree whose files are all in the storage. */
  #size = 0;
  #published: { readonly note: string; readonly at: number } | null = null;

  constructor(options: LogFilesOptions) {
    this.#options = options;
    this.#tree = new TreeReader(storeTiles(options.store), 64);
  }

  /**
   * Compares the stored log with what was published of it.
   * @throws log_mismatch, log_behind, log_corrupted; unavailable
   */
  async checkNotBehind(): Promise<void> {
    const { storage } = this.#options;
    await storage.check();
    await this.#current();
  }

  /**
   * Stores tiles and, with those of leaves, the bundles of their entries.
   * @throws log_corrupted where another file has the path of one of them, or the leaves are not those of a tile
   */
  async put(tiles: readonly Tile[]): Promise<void> {
    await allEnded(tiles.map((tile) => this.#putTile(tile)));
  }

  /** Notes that all files of the tree of this size are stored. */
  complete(size: number): void {
    this.#size = Math.max(this.#size, size);
  }

  /**
   * Publishes the newest checkpoint, after all files of its tree that are not stored yet. The files of many leaves are
   * stored by way of older checkpoints, so that it goes on there after a crash. Returns false once `leads` does.
   * @param leads is asked between turns, with the number of leaves whose files are stored
   * @throws log_mismatch, log_behind, log_corrupted where the storage contradicts the log; unavailable
   */
  async publish(newest: StoredCheckpoint, leads: Leads): Promise<boolean> {
    const { clock } = this.#options;
    if (this.#published?.note === newest.note && clock() - this.#published.at < LOOK_AGAIN_MS) return true;
    if (this.#size < newest.size) this.complete((await this.#current())?.size ?? 0);
    if (this.#size < newest.size && !(await this.#fillUpTo(newest, leads))) return false;
    if (!leads(newest.size)) return false;
    await this.#replace(newest);
    this.#published = { note: newest.note, at: clock() };
    return true;
  }

  /** The published checkpoint's note; null where there is none. @throws unavailable, as `tile` */
  async checkpoint(): Promise<string | null> {
    const bytes = await this.#get(CHECKPOINT);
    return bytes === null ? null : Buffer.from(bytes).toString('utf8');
  }

  /**
   * The bytes at a tile's path, or of the full tile that it is the start of; null where neither is stored.
   * @throws unavailable where the storage can't be read; only its cause says which storage that is
   */
  async tile(path: string): Promise<Uint8Array | null> {
    const tile = parseTilePath(path);
    if (tile === null) return null;
    const stored = await this.#get(path);
    if (stored !== null || tile.width === 256) return stored;
    const full = await this.#get(fullPath(tile));
    return full && full.subarray(0, tile.width * (tile.kind === 'entries' ? ENTRY_BYTES : HASH_BYTES));
  }

  /** Reads for a stranger, whom it does not concern where the files are. */
  async #get(path: string): Promise<Uint8Array | null> {
    try {
      return await this.#options.storage.get(path);
    } catch (cause) {
      const message = 'The log’s files can’t be read at the moment. Try again later.';
      throw new TallyError('unavailable', message, { cause });
    }
  }

  async #fillUpTo(newest: StoredCheckpoint, leads: Leads): Promise<boolean> {
    const { store, storage, clock, logger } = this.#options;
    let toldAt = clock();
    while (this.#size < newest.size) {
      const step = await store.checkpointWithin(Math.min(newest.size, this.#size + STEP_LEAVES));
      // Old checkpoints are purged but for those of postings, so that the next one may be further away.
      const isFurther = step !== null && step.size > this.#size;
      const next = isFurther ? step : ((await store.checkpointAfter(this.#size)) ?? newest);
      if (!(await this.#fill(next, leads))) return false;
      if (next.size < newest.size) await this.#replace(next);
      if (clock() - toldAt < TELL_MS) continue;
      toldAt = clock();
      logger.info({ leaves: this.#size, of: newest.size }, `storing the files of the log in ${storage.name}`);
    }
    logger.info({ leaves: newest.size }, `the files of the log are in ${storage.name}`);
    return true;
  }

  /** Stores what the tree of this checkpoint has more than the one before. */
  async #fill(to: StoredCheckpoint, leads: Leads): Promise<boolean> {
    const { store } = this.#options;
    const from = this.#size;
    const grown = await growTree(store, await readEdge(store, from), to.size, leads, (full) =>
      this.put(full),
    );
    if (grown === null) return false;
    if (!equalBytes(edgeRoot(grown), to.root)) {
      throw corrupted(`The leaves do not have the root of the checkpoint of ${to.size} leaves.`);
    }
    await this.put(changedPartials(from, grown));
    this.complete(to.size);
    return true;
  }

  async #putTile({ level, index, hashes }: Tile): Promise<void> {
    const width = hashes.length / HASH_BYTES;
    const files: [path: string, bytes: Uint8Array][] = [[tilePath(level, index, width), hashes]];
    if (level === 0) {
      const entries = await this.#options.store.readLeaves(index * 256, index * 256 + width);
      // A file can't be taken back, so nothing is stored of leaves that have changed since they were hashed.
      if (!hashLeaves(entries).equals(hashes)) {
        throw corrupted(`${tilePath(level, index, width)} is not that of the accepted leaves.`);
      }
      files.push([entriesPath(index, width), encodeEntries(entries)]);
    }
    await allEnded(files.map(([path, bytes]) => this.#create(path, bytes)));
  }

  async #create(path: string, bytes: Uint8Array): Promise<void> {
    const { storage } = this.#options;
    if (await storage.create(path, bytes)) return;
    const there = await storage.get(path);
    if (there === null)
      throw new TallyError('unavailable', `${path} cannot be stored in ${storage.name} yet.`);
    if (equalBytes(there, bytes)) return;
    throw corrupted(`${path} in ${storage.name} is another file than the one of this log’s leaves.`);
  }

  #replace(checkpoint: StoredCheckpoint): Promise<void> {
    const { storage } = this.#options;
    const { note, size } = checkpoint;
    return storage.replace(CHECKPOINT, Buffer.from(note), async (bytes) => {
      const current = await this.#open(bytes);
      if (current === null || current.size !== size) return current === null || current.size < size;
      return parseNote(note).signatures.length > parseNote(current.note).signatures.length;
    });
  }

  async #current(): Promise<{ note: string; size: number } | null> {
    return this.#open(await this.#options.storage.get(CHECKPOINT));
  }

  /**
   * Reads a published checkpoint, which was stored in the database before.
   * @throws log_mismatch for anything but a checkpoint of this log; log_behind for one of more leaves than there are;
   * log_corrupted for one of another tree
   */
  async #open(bytes: Uint8Array | null): Promise<{ note: string; size: number } | null> {
    if (bytes === null) return null;
    const { storage, store, log } = this.#options;
    const note = Buffer.from(bytes).toString('utf8');
    const { size, root } = await openCheckpoint(note, log, nodeEngine).catch((cause: unknown) => {
      const message = `The checkpoint in ${storage.name} is not one of this log. Each log needs a storage of its own.`;
      throw new TallyError('log_mismatch', message, { cause });
    });
    const newest = (await store.newestCheckpoint())?.size ?? 0;
    if (size > newest) {
      throw new TallyError(
        'log_behind',
        `A checkpoint of ${size} leaves of this log is in ${storage.name}, but only ${newest} are here. Restore the newest data.`,
      );
    }
    if (!equalBytes(await this.#tree.root(size), root)) {
      throw corrupted(
        `The checkpoint of ${size} leaves in ${storage.name} is of another tree than the one here.`,
      );
    }
    return { note, size };
  }
}

/** Rejects as `Promise.all`, but once all have ended: a write that is still under way would be met by the next try. */
async function allEnded(writes: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(writes);
  await Promise.all(writes);
}

function fullPath(tile: TilePath): string {
  return tile.kind === 'entries' ? entriesPath(tile.index) : tilePath(tile.level, tile.index);
}

const corrupted = (message: string): TallyError => new TallyError('log_corrupted', message);
