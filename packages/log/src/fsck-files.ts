import {
  encodeEntries,
  entriesPath,
  equalBytes,
  type LogKey,
  openCheckpoint,
  TallyError,
  tilePath,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Findings } from './fsck-report.ts';
import type { LogStore } from './log-store.ts';
import { CHECKPOINT } from './storage/log-files.ts';
import type { ObjectStorage } from './storage/object-storage.ts';
import { HASH_BYTES } from './tree-hash.ts';
import { tileWidth } from './tree-shape.ts';

/** Files that are read at a time. */
const AT_ONCE = 16;

interface FilesOptions {
  readonly store: Pick<LogStore, 'newestCheckpoint' | 'getCheckpoint'>;
  readonly log: LogKey;
  readonly storage: ObjectStorage | undefined;
}

interface Reading {
  readonly path: string;
  readonly expected: Uint8Array;
  readonly found: Promise<Uint8Array | null>;
}

/**
 * Compares the files in a log's storage with those that the leaves make, up to the checkpoint that is published there.
 * Partial tiles of smaller trees are not asked for.
 */
export class FilesCheck {
  readonly #storage: ObjectStorage | undefined;
  readonly #findings: Findings;
  /** Leaves of the published checkpoint. */
  readonly #size: number;
  readonly #reading: Reading[] = [];

  private constructor(storage: ObjectStorage | undefined, findings: Findings, size: number) {
    this.#storage = storage;
    this.#findings = findings;
    this.#size = size;
  }

  /** Reads the published checkpoint, and checks it. Without a storage there is nothing to check. */
  static async open(options: FilesOptions, findings: Findings): Promise<FilesCheck> {
    const size = options.storage === undefined ? 0 : await publishedSize(options, options.storage, findings);
    return new FilesCheck(options.storage, findings, size);
  }

  /** Compares a tile. @param hashes those of a tree at least as large as the published one */
  async tile(level: number, index: number, hashes: Uint8Array): Promise<void> {
    const width = tileWidth(this.#size, level, index);
    await this.#compare(tilePath(level, index, width), hashes.subarray(0, width * HASH_BYTES));
  }

  /** Compares a bundle. @param entries 32 bytes each, those of a tree at least as large as the published one */
  async entries(index: number, entries: Uint8Array): Promise<void> {
    const width = tileWidth(this.#size, 0, index);
    await this.#compare(entriesPath(index, width), encodeEntries(entries.subarray(0, width * HASH_BYTES)));
  }

  /** Resolves when all files are compared. */
  async finish(): Promise<void> {
    while (this.#reading.length > 0) await this.#finishOldest();
  }

  async #compare(path: string, expected: Uint8Array): Promise<void> {
    if (this.#storage === undefined || expected.length === 0) return;
    if (this.#reading.length >= AT_ONCE) await this.#finishOldest();
    const found = this.#storage.get(path);
    // Its turn comes later; until then nobody waits for it.
    found.catch(() => {});
    this.#reading.push({ path, expected, found });
  }

  async #finishOldest(): Promise<void> {
    const oldest = this.#reading.shift();
    if (oldest === undefined) return;
    const found = await oldest.found;
    this.#findings.counts.files += 1;
    const where = inStorage(oldest.path);
    if (found === null) this.#findings.fault(where, 'is missing');
    else if (!equalBytes(found, oldest.expected)) this.#findings.fault(where, 'is not what the leaves make');
  }
}

const inStorage = (path: string): string => `${path} in the storage`;

async function publishedSize(
  { store, log }: FilesOptions,
  storage: ObjectStorage,
  findings: Findings,
): Promise<number> {
  const fault = (what: string): number => {
    findings.fault(inStorage(CHECKPOINT), what);
    return 0;
  };
  const note = await storage.get(CHECKPOINT);
  // Read after the published one, which was stored in the database before.
  const newest = await store.newestCheckpoint();
  if (note === null) return newest === null ? 0 : fault('is missing');
  findings.counts.files += 1;
  try {
    const { size, root } = await openCheckpoint(Buffer.from(note).toString('utf8'), log, nodeEngine);
    const stored = await store.getCheckpoint(size);
    if (stored === null) return fault(`is of ${size} leaves, of which no checkpoint is in the database`);
    return equalBytes(stored.root, root) ? size : fault(`is of another tree of ${size} leaves`);
  } catch (error) {
    if (error instanceof TallyError && error.code !== 'unavailable') return fault(error.message);
    throw error;
  }
}
