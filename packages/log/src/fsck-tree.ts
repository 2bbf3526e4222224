import { setImmediate } from 'node:timers/promises';
import { CompactRange, equalBytes, tilePath } from '@tallystick/core';
import { nodeSha256 } from '@tallystick/kit';
import type { CheckpointCheck } from './fsck-checkpoints.ts';
import type { FilesCheck } from './fsck-files.ts';
import type { Findings } from './fsck-report.ts';
import type { LogStore, TreeHead } from './log-store.ts';
import { tileRoot } from './right-edge.ts';
import { HASH_BYTES, hashAt, hashLeaves } from './tree-hash.ts';
import { levelsOf, tileWidth } from './tree-shape.ts';

const ABSENT = new Uint8Array(HASH_BYTES);

/** Leaves between two reports of progress. */
const PROGRESS_LEAVES = 16_384;

interface TreeOptions {
  readonly store: LogStore;
  readonly findings: Findings;
  readonly head: TreeHead;
  /** Number of leaves. */
  readonly accepted: number;
  readonly checkpoints: CheckpointCheck;
  readonly files: FilesCheck;
}

/**
 * Reads all leaves, 256 at a time. Compares them with the tiles and, by a second way of hashing, with the roots of all
 * checkpoints and of the head.
 */
export async function checkTree(
  options: TreeOptions,
  onProgress: (checked: number, leaves: number) => void = () => {},
): Promise<void> {
  const { store, findings, head, accepted, checkpoints, files } = options;
  const tree = new TreeCheck(options);
  const range = new CompactRange(undefined, nodeSha256);
  let batchAt = 0;
  await checkpoints.at(range);
  for (let from = 0; from < accepted; from += 256) {
    const to = Math.min(accepted, from + 256);
    const entries = await readLeaves(store, findings, from, to);
    if (entries === null) {
      findings.fault(`leaf ${from}`, `is missing, and so are all after it, though ${accepted} are counted`);
      break;
    }
    batchAt = await checkPlaces(store, findings, entries, from, batchAt);
    const inTree = Math.min(to, head.size) - from;
    if (inTree > 0) {
      const inTiles = entries.subarray(0, inTree * HASH_BYTES);
      const hashes = await tree.addTile(from / 256, hashLeaves(inTiles));
      await files.entries(from / 256, inTiles);
      for (let place = 0; place < inTree; place++) {
        range.append(hashAt(hashes, place));
        if (range.size === checkpoints.next) await checkpoints.at(range);
      }
    }
    findings.counts.leaves = to;
    if (from % PROGRESS_LEAVES === 0) {
      onProgress(to, accepted);
      await setImmediate();
    }
  }
  await tree.finish();
  await files.finish();
  await checkpoints.end();
  const uncounted = await store.getLeaf(accepted);
  if (uncounted !== null && (await store.countLeaves()) <= accepted) {
    findings.fault(`leaf ${accepted}`, `is there, but only ${accepted} are counted`);
  }
  if (accepted < head.size)
    findings.fault('head', `is over ${head.size} leaves, but ${accepted} are accepted`);
  if (!equalBytes(range.root(), head.root)) findings.fault('head', 'its root is not that of the leaves');
}

/** Reads the leaves of a range, with undefined for each that is missing. Null when all are missing. */
async function readLeaves(
  store: LogStore,
  findings: Findings,
  from: number,
  to: number,
): Promise<Uint8Array | null> {
  const entries = await store.readLeaves(from, to);
  if (entries.length === 0) return null;
  if (entries.length === (to - from) * HASH_BYTES) return entries;
  const parts: Uint8Array[] = [];
  for (let index = from; index < to; index++) {
    const leaf = await store.getLeaf(index);
    if (leaf?.hash.length !== HASH_BYTES) findings.fault(`leaf ${index}`, 'is missing');
    parts.push(leaf?.hash.length === HASH_BYTES ? leaf.hash : ABSENT);
  }
  return Buffer.concat(parts);
}

/** Checks that each hash leads back to its own leaf and that batches never fall. Returns the last batch. */
async function checkPlaces(
  store: LogStore,
  findings: Findings,
  entries: Uint8Array,
  from: number,
  earliest: number,
): Promise<number> {
  let batchAt = earliest;
  for (let index = from; index < from + entries.length / HASH_BYTES; index++) {
    const leaf = await store.findLeaf(hashAt(entries, index - from));
    if (leaf?.index !== index) {
      const found = leaf === null ? 'is not found by its hash' : `has the same hash as leaf ${leaf.index}`;
      findings.fault(`leaf ${index}`, found);
      continue;
    }
    if (leaf.batchAt < batchAt) {
      findings.fault(
        `leaf ${index}`,
        `is of the batch ${leaf.batchAt}, but the leaf before it of ${batchAt}`,
      );
    }
    batchAt = leaf.batchAt;
  }
  return batchAt;
}

/** The hashes of a level that do not fill a tile yet, and the index of that tile. */
interface Row {
  index: number;
  hashes: Uint8Array[];
}

/** Rebuilds all tiles of a tree, and compares them with the stored ones and with those in the storage. */
class TreeCheck {
  readonly #store: LogStore;
  readonly #findings: Findings;
  readonly #files: FilesCheck;
  readonly #size: number;
  readonly #rows: Row[];

  constructor({ store, findings, files, head }: TreeOptions) {
    this.#store = store;
    this.#findings = findings;
    this.#files = files;
    this.#size = head.size;
    this.#rows = Array.from({ length: levelsOf(head.size) }, () => ({ index: 0, hashes: [] }));
  }

  /**
   * Takes the leaf hashes of a tile of level 0; tiles come in their order. Returns the hashes that the tree was built
   * from, as far as can be known: the stored ones if the level above has their root, else the given ones.
   */
  async addTile(index: number, leafHashes: Buffer): Promise<Uint8Array> {
    const hashes = await this.#checkLeaves(index, leafHashes);
    await this.#files.tile(0, index, hashes);
    if (hashes.length === 256 * HASH_BYTES) await this.#addAbove(1, tileRoot(hashes));
    return hashes;
  }

  /** Checks the partial tiles at the end. */
  async finish(): Promise<void> {
    for (const [level, row] of this.#rows.entries()) {
      if (row.hashes.length > 0) await this.#checkNodes(level, row.index, Buffer.concat(row.hashes));
    }
  }

  async #addAbove(level: number, hash: Uint8Array): Promise<void> {
    const row = this.#rows[level];
    if (row === undefined) return;
    row.hashes.push(hash);
    if (row.hashes.length < 256) return;
    const tile = Buffer.concat(row.hashes);
    await this.#checkNodes(level, row.index, tile);
    row.index += 1;
    row.hashes = [];
    await this.#addAbove(level + 1, tileRoot(tile));
  }

  async #checkLeaves(index: number, expected: Buffer): Promise<Uint8Array> {
    const stored = await this.#stored(0, index, expected);
    if (stored === null || expected.equals(stored)) return expected;
    const where = tilePath(0, index, expected.length / HASH_BYTES);
    const inTree = await this.#isInTree(index, stored);
    for (const place of differences(expected, stored)) {
      const leaf = `leaf ${index * 256 + place}`;
      if (inTree) this.#findings.fault(leaf, `is not the one that ${where} was made from`);
      else this.#findings.fault(where, `hash ${place} is not that of ${leaf}`);
    }
    return inTree ? stored : expected;
  }

  async #checkNodes(level: number, index: number, expected: Buffer): Promise<void> {
    await this.#files.tile(level, index, expected);
    const stored = await this.#stored(level, index, expected);
    if (stored === null) return;
    const where = tilePath(level, index, expected.length / HASH_BYTES);
    for (const place of differences(expected, stored)) {
      this.#findings.fault(
        where,
        `hash ${place} is not the root of ${tilePath(level - 1, index * 256 + place)}`,
      );
    }
  }

  /** The stored hashes, as many as expected; null, once reported, when they are missing or too few. */
  async #stored(level: number, index: number, expected: Uint8Array): Promise<Uint8Array | null> {
    const stored = await this.#store.getTile(level, index);
    if (stored?.length === expected.length) return stored;
    const grown =
      stored !== null && stored.length > expected.length && (await this.#store.head()).size > this.#size;
    if (grown) return stored.subarray(0, expected.length);
    const found = stored === null ? 'is missing' : `has ${stored.length} bytes, not ${expected.length}`;
    this.#findings.fault(tilePath(level, index, expected.length / HASH_BYTES), found);
    return null;
  }

  /** Whether the level above has the root of a stored tile, which shows that the tree was built from it. */
  async #isInTree(index: number, tile: Uint8Array): Promise<boolean> {
    if (tileWidth(this.#size, 0, index) < 256) return false;
    const above = await this.#store.getTile(1, Math.floor(index / 256));
    return above !== null && equalBytes(hashAt(above, index % 256), tileRoot(tile));
  }
}

function differences(expected: Uint8Array, stored: Uint8Array): number[] {
  const places: number[] = [];
  for (let place = 0; place < expected.length / HASH_BYTES; place++) {
    if (!equalBytes(hashAt(expected, place), hashAt(stored, place))) places.push(place);
  }
  return places;
}

/** Reports tiles that a tree of this size does not have: the pass over the leaves does not read them. */
export async function checkStrayTiles(store: LogStore, findings: Findings, size: number): Promise<void> {
  for await (const { level, index } of store.listTiles()) {
    findings.counts.tiles += 1;
    if (tileWidth(size, level, index) > 0) continue;
    // A leader that runs meanwhile adds tiles.
    const now = (await store.head()).size;
    if (tileWidth(now, level, index) === 0) {
      findings.fault(tilePath(level, index), `is of no tree of ${now} leaves`);
    }
  }
}
