import {
  consistencyNodes,
  foldNodes,
  inclusionNodes,
  subproofNodes,
  TallyError,
  type TreeNode,
  tilePath,
} from '@tallystick/core';
import { nodeSha256 } from '@tallystick/kit';
import { HASH_BYTES, hashAt, pyramid } from './tree-hash.ts';
import { rootNodes, tileWidth } from './tree-shape.ts';

/** Reads at least the first `width` hashes of a tile, or null. What it has once returned for a tile must never change. */
export type TileSource = (level: number, index: number, width: number) => Promise<Uint8Array | null>;

/** Number of tiles that are cached with their inner nodes, 16 KiB each. */
const CACHED_TILES = 4096;

/**
 * Makes proofs and roots of a tree in tiles (C2SP tlog-tiles). It caches the tiles used last with their inner nodes,
 * which cost more to hash than to read. A tile that has grown is read again when more of it is needed. Every method
 * throws `log_corrupted` where the source lacks a tile of a tree of that size.
 */
export class TreeReader {
  readonly #source: TileSource;
  readonly #limit: number;
  /** Cached tiles by `index * 64 + level`, the one used last at the end. */
  readonly #tiles = new Map<number, readonly Buffer[]>();
  /** The last key in `#tiles`: consecutive nodes of a path are often in one tile. */
  #newest = -1;

  constructor(source: TileSource, limit = CACHED_TILES) {
    this.#source = source;
    this.#limit = limit;
  }

  /** The path of a leaf to the root of the first `size` leaves. @throws merkle_range */
  async inclusionProof(index: number, size: number): Promise<Uint8Array[]> {
    return this.#fold(inclusionNodes(index, size), size);
  }

  /** The path from the first `from` leaves to the first `size`. @throws merkle_range also for `from` 0 */
  async consistencyProof(from: number, size: number): Promise<Uint8Array[]> {
    return this.#fold(consistencyNodes(from, size), size);
  }

  /** The nodes that make up the first `size` leaves and, in them, the first `from` (RFC 6962, SUBPROOF with false). @throws merkle_range also for `from` 0 */
  async subproof(from: number, size: number): Promise<Uint8Array[]> {
    return this.#fold(subproofNodes(from, size), size);
  }

  /** The root of the first `size` leaves. */
  async root(size: number): Promise<Uint8Array> {
    const [root] = await this.#fold([rootNodes(size)], size);
    return root ?? foldNodes([]);
  }

  async #fold(groups: readonly (readonly TreeNode[])[], size: number): Promise<Uint8Array[]> {
    const hashes: Uint8Array[] = [];
    for (const group of groups) {
      const nodes: Uint8Array[] = [];
      for (const node of group) nodes.push(await this.#node(node, size));
      hashes.push(foldNodes(nodes, nodeSha256));
    }
    return hashes;
  }

  async #node(node: TreeNode, size: number): Promise<Uint8Array> {
    const level = Math.floor(node.level / 8);
    const height = node.level % 8;
    const first = node.index * 2 ** height;
    const index = Math.floor(first / 256);
    const place = first % 256;
    const tile =
      this.#remembered(level, index, place + 2 ** height) ?? (await this.#load(level, index, size));
    return hashAt(tile[height] ?? new Uint8Array(0), place >> height);
  }

  #remembered(level: number, index: number, width: number): readonly Buffer[] | undefined {
    const key = index * 64 + level;
    const tile = this.#tiles.get(key);
    if (tile === undefined || (tile[0]?.length ?? 0) < width * HASH_BYTES) return undefined;
    if (key !== this.#newest) this.#keep(key, tile);
    return tile;
  }

  async #load(level: number, index: number, size: number): Promise<readonly Buffer[]> {
    const width = tileWidth(size, level, index);
    const hashes = await this.#source(level, index, width);
    if (hashes === null || hashes.length < width * HASH_BYTES) {
      const path = tilePath(level, index, width);
      throw new TallyError('log_corrupted', `A tree of ${size} leaves needs ${path}, which is missing.`);
    }
    const tile = pyramid(hashes);
    this.#keep(index * 64 + level, tile);
    return tile;
  }

  #keep(key: number, tile: readonly Buffer[]): void {
    this.#tiles.delete(key);
    this.#tiles.set(key, tile);
    this.#newest = key;
    if (this.#tiles.size > this.#limit) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest] = this.#tiles.keys();
    if (oldest !== undefined) this.#tiles.delete(oldest);
  }
}
