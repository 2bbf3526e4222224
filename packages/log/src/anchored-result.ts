import { setImmediate } from 'node:timers/promises';
import {
  type AnchoredResult,
  anchoredRef,
  batchId,
  formatTimestamp,
  leafHash,
  pendingRef,
  TallyError,
  toHex,
  verifyInclusion,
} from '@tallystick/core';
import { nodeSha256 } from '@tallystick/kit';
import type { AnchorResult } from './anchor-log.ts';
import { asFinal, type FinalPosting, FinalPostings } from './final-postings.ts';
import type { Leaf, LogStore, TreeHead } from './log-store.ts';
import type { TreeReader } from './tree-reader.ts';

type LeafPlace = Pick<Leaf, 'index' | 'hash'>;

/** Number of proofs that are made before the event loop gets its turn. */
const TURN_PROOFS = 64;

/** Tells of leaves whether they are scheduled, or under a root that is final on the chain. */
export class Results {
  readonly #store: LogStore;
  readonly #tree: TreeReader;
  readonly #network: string;
  readonly #postings: FinalPostings;
  /** Size of the largest tree whose root was seen to be final. It only grows. */
  #anchoredSize: number | undefined;

  constructor(store: LogStore, tree: TreeReader, network: string) {
    this.#store = store;
    this.#tree = tree;
    this.#network = network;
    this.#postings = new FinalPostings(store);
  }

  /** The size of the newest tree whose root is final. */
  async anchoredSize(): Promise<number> {
    this.#anchoredSize ??= await this.#newestFinal();
    for (;;) {
      const next = asFinal(await this.#store.postingOf(this.#anchoredSize));
      if (next === null) return this.#anchoredSize;
      this.#anchoredSize = next.size;
    }
  }

  /** The state of one leaf. @param now Unix milliseconds */
  async of(leaf: Leaf, now: number): Promise<AnchorResult> {
    const found = await this.#postings.of(leaf.index);
    return found === null ? pending(leaf, now) : this.#anchored(leaf, found.posting, found.note);
  }

  /**
   * The states of many leaves, in their order. Most leaves are new, and their state is known without asking the store.
   * @param now Unix milliseconds
   */
  async ofAll(leaves: readonly Leaf[], now: number): Promise<AnchorResult[]> {
    const anchoredSize = await this.anchoredSize();
    const results: AnchorResult[] = [];
    let proofs = 0;
    for (const leaf of leaves) {
      if (leaf.index >= anchoredSize) {
        results.push(pending(leaf, now));
        continue;
      }
      results.push(await this.of(leaf, now));
      proofs += 1;
      if (proofs % TURN_PROOFS === 0) await setImmediate();
    }
    return results;
  }

  /** The results of those leaves that are among the first `size` and under a final root; null of the others. In their order. */
  async anchored(leaves: readonly LeafPlace[], size: number): Promise<(AnchoredResult | null)[]> {
    const results: (AnchoredResult | null)[] = [];
    for (const leaf of leaves) {
      const found = leaf.index < size ? await this.#postings.of(leaf.index) : null;
      results.push(found === null ? null : await this.#anchored(leaf, found.posting, found.note));
      if (results.length % TURN_PROOFS === 0) await setImmediate();
    }
    return results;
  }

  async #newestFinal(): Promise<number> {
    let size = 0;
    for await (const posting of this.#store.listPostings()) {
      const final = asFinal(posting);
      if (final === null) break;
      size = final.size;
    }
    return size;
  }

  async #anchored(leaf: LeafPlace, posting: FinalPosting, checkpoint: string): Promise<AnchoredResult> {
    const path = await provenPath(this.#tree, leaf, posting);
    const { blockHeight, txHash } = posting.place;
    return {
      anchor_ref: anchoredRef({ network: this.#network, blockHeight, txHash, index: leaf.index }),
      network: this.#network,
      block_height: blockHeight,
      tx_hash: txHash,
      merkle_root: sha256Text(posting.root),
      merkle_path: path.map(sha256Text),
      verified_at: formatTimestamp(posting.finalizedAt * 1000),
      leaf_index: leaf.index,
      tree_size: posting.size,
      checkpoint,
    };
  }
}

/** Makes the inclusion path of a leaf, and checks it before it is returned. @throws log_corrupted */
export async function provenPath(tree: TreeReader, leaf: LeafPlace, head: TreeHead): Promise<Uint8Array[]> {
  const path = await tree.inclusionProof(leaf.index, head.size);
  const claim = {
    index: leaf.index,
    size: head.size,
    leafHash: leafHash(leaf.hash, nodeSha256),
    path,
    root: head.root,
  };
  if (verifyInclusion(claim, nodeSha256)) return path;
  throw new TallyError(
    'log_corrupted',
    `The tiles do not lead from leaf ${leaf.index} to the root of the checkpoint of ${head.size} leaves.`,
  );
}

function pending(leaf: Leaf, now: number): AnchorResult {
  return {
    anchor_ref: pendingRef(leaf.batchAt, leaf.index),
    batch_id: batchId(leaf.batchAt),
    eta_seconds: Math.max(0, Math.ceil(leaf.batchAt - now / 1000)),
  };
}

const sha256Text = (hash: Uint8Array): string => `sha256:${toHex(hash)}`;
