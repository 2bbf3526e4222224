import {
  consistencyNodes,
  foldNodes,
  inclusionNodes,
  merkleRoot,
  TallyError,
  TILE_WIDTH,
  type TreeNode,
  tilePath,
} from '@tallystick/core';
import { apiStream } from '../../api.ts';

/**
 * Reads proofs from the log's public tiles (C2SP tlog-tiles), which any copy of the log serves: no answer of the service
 * about one hash or one reader is needed. What it returns proves nothing until it is verified.
 */
export class Tiles {
  readonly #size: number;
  readonly #read = new Map<string, Promise<Uint8Array>>();

  /** @param size leaves of the tree that proofs lead to */
  constructor(size: number) {
    this.#size = size;
  }

  /** The path from the first `from` leaves to all. @throws ApiProblem; log_corrupted; merkle_range */
  consistencyProof(from: number): Promise<Uint8Array[]> {
    return this.#fold(consistencyNodes(from, this.#size));
  }

  /** The path of a leaf. @throws as above */
  inclusionProof(index: number): Promise<Uint8Array[]> {
    return this.#fold(inclusionNodes(index, this.#size));
  }

  /** The root of the first `size` leaves. @throws as above */
  async root(size: number = this.#size): Promise<Uint8Array> {
    const nodes: TreeNode[] = [];
    // One perfect subtree for each set bit of the size, the largest first.
    for (let level = 52; level >= 0; level--) {
      const index = Math.floor(size / 2 ** level);
      if (index % 2 === 1) nodes.push({ level, index: index - 1 });
    }
    const [root] = await this.#fold([nodes]);
    return root ?? foldNodes([]);
  }

  #fold(groups: readonly (readonly TreeNode[])[]): Promise<Uint8Array[]> {
    return Promise.all(
      groups.map(async (nodes) => foldNodes(await Promise.all(nodes.map((node) => this.#node(node))))),
    );
  }

  /** A perfect subtree's hash: from the hashes in its tile that are below it. */
  async #node({ level, index }: TreeNode): Promise<Uint8Array> {
    const tileLevel = Math.floor(level / 8);
    const width = 2 ** (level % 8);
    const first = index * width;
    const place = first % TILE_WIDTH;
    const tile = await this.#tile(tileLevel, Math.floor(first / TILE_WIDTH));
    const hashes = Array.from({ length: width }, (_, at) =>
      tile.subarray((place + at) * 32, (place + at + 1) * 32),
    );
    if (hashes.some((hash) => hash.length !== 32)) {
      throw new TallyError('log_corrupted', 'A tile of the log is shorter than its checkpoint says.');
    }
    return merkleRoot(hashes);
  }

  #tile(level: number, index: number): Promise<Uint8Array> {
    const inLevel = Math.floor(this.#size / TILE_WIDTH ** level);
    const path = tilePath(level, index, Math.min(TILE_WIDTH, inLevel - index * TILE_WIDTH));
    const reading = this.#read.get(path) ?? fetchTile(path);
    this.#read.set(path, reading);
    return reading;
  }
}

const PATIENCE_MS = 30_000;

async function fetchTile(path: string): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return new Uint8Array(await (await apiStream(`/${path}`, { as: null, signal })).arrayBuffer());
}
