import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import {
  type Checkpoint,
  equalBytes,
  fromHex,
  type JsonObject,
  leafOf,
  openCheckpoint,
  parseTlogProof,
  readAnchoredResult,
  toHex,
  type VerifierKey,
  verifyInclusion,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Random } from '../packages/core/test/random.ts';
import { bytesOf, hashOf, type Key, place } from './log-client.ts';
import { drawing } from './random.ts';

/** Leaves that are submitted once each, and the indexes that were answered for them. */
export class Leaves {
  /** The numbers of the leaves, by index in the log. */
  readonly placed: number[] = [];
  readonly #count: number;
  readonly #random: Random = drawing('leaves');
  #made = 0;
  #answered = 0;
  /** Index in the newest answer. */
  newest = -1;

  constructor(count: number) {
    this.#count = count;
  }

  get answered(): number {
    return this.#answered;
  }

  hashAt(index: number): string {
    return hashOf(`leaf ${this.placed[index]}`);
  }

  /** As `place`, with 1 to `most` of the next leaves. */
  placeSome(url: string, key: Key, most: number): Promise<void> {
    return this.place(url, key, 1 + this.#random.below(most));
  }

  /** Submits the next `count` leaves, and a few earlier ones, which must not have moved. */
  async place(url: string, key: Key, count: number): Promise<void> {
    const from = this.#made;
    this.#made = Math.min(this.#count, from + count);
    const fresh = Array.from({ length: this.#made - from }, (_, at) => from + at);
    const old = Array.from({ length: Math.min(this.newest, 3) }, () => this.anyPlace());
    const hashes = [...fresh.map((number) => hashOf(`leaf ${number}`)), ...old.map((at) => this.hashAt(at))];
    const places = await place(url, key, hashes);
    assert.deepEqual(places.slice(fresh.length), old, 'an old leaf has moved');
    for (const [at, number] of fresh.entries()) {
      const index = places[at] ?? -1;
      assert.ok(index >= 0 && this.placed[index] === undefined, `place ${index} is given twice`);
      this.placed[index] = number;
      this.newest = index;
    }
    this.#answered += fresh.length;
  }

  /** A random index that was answered. */
  anyPlace(): number {
    for (;;) {
      const index = this.#random.below(this.placed.length);
      if (this.placed[index] !== undefined) return index;
    }
  }

  get isDone(): boolean {
    return this.#made === this.#count;
  }
}

const POLL_MS = 20;

/** Reads proofs and checks each of them from the hash to the log's signature. */
export class ProofReader {
  /** Number of proofs that were checked, by kind. */
  readonly checked = { tlogProof: 0, anchored: 0 };
  /** Roots that the proofs lead to, by tree size; two roots of one size throw. */
  readonly trees = new Map<number, string>();
  readonly #url: string;
  readonly #log: VerifierKey;
  readonly #opened = new Map<string, Promise<Checkpoint>>();

  constructor(url: string, log: VerifierKey) {
    this.#url = url;
    this.#log = log;
  }

  /** Reads a C2SP tlog-proof of a leaf as soon as a checkpoint covers it. Returns the milliseconds that it took. */
  async readProof(index: number, hash: string): Promise<number> {
    const began = performance.now();
    for (;;) {
      const response = await this.#ask(hash, 'text/plain');
      const answer = await response.text();
      assert.equal(response.status, 200, answer);
      if (response.headers.get('content-type')?.startsWith('text/plain')) {
        const proof = parseTlogProof(answer);
        assert.equal(proof.index, index, `${hash} has moved`);
        this.#include(index, hash, proof.path, await this.#open(proof.checkpoint));
        this.checked.tlogProof += 1;
        return performance.now() - began;
      }
      await setTimeout(POLL_MS);
    }
  }

  /** Reads the anchored result of a leaf, or null if it has none yet. */
  async readResult(index: number, hash: string): Promise<JsonObject | null> {
    const response = await this.#ask(hash, 'application/json');
    const answer = (await response.json()) as JsonObject;
    assert.equal(response.status, 200, JSON.stringify(answer));
    if (!('merkle_root' in answer)) return null;
    const { leaf_index, merkle_path, merkle_root, tree_size, checkpoint } = readAnchoredResult(answer);
    assert.equal(leaf_index, index, `${hash} has moved`);
    const tree = await this.#open(checkpoint ?? '');
    assert.deepEqual([tree.size, `sha256:${toHex(tree.root)}`], [tree_size, merkle_root]);
    const path = merkle_path.map((node) => fromHex(node.replace('sha256:', ''), 32));
    this.#include(index, hash, path, tree);
    this.checked.anchored += 1;
    return answer;
  }

  #ask(hash: string, accept: string): Promise<Response> {
    return fetch(`${this.#url}/v1/anchor/by-hash/${hash}`, { headers: { accept } });
  }

  #open(note: string): Promise<Checkpoint> {
    const known = this.#opened.get(note);
    if (known !== undefined) return known;
    const opened = openCheckpoint(note, { ...this.#log, origin: this.#log.name }, nodeEngine);
    this.#opened.set(note, opened);
    return opened;
  }

  #include(index: number, hash: string, path: readonly Uint8Array[], { size, root }: Checkpoint): void {
    const leafHash = leafOf(bytesOf(hash));
    assert.ok(
      verifyInclusion({ index, size, leafHash, path, root }),
      `leaf ${index} is not in ${size} leaves`,
    );
    const seen = this.trees.get(size) ?? toHex(root);
    assert.ok(equalBytes(fromHex(seen), root), `there are two trees of ${size} leaves`);
    this.trees.set(size, seen);
  }
}
