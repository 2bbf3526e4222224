import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import {
  type Checkpoint,
  CompactRange,
  leafOf,
  openCheckpoint,
  toHex,
  type VerifierKey,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { nodeSha256 } from '../packages/kit/src/crypto/node-sha256.ts';
import { afterEachFile } from '../scripts/end-of-file.ts';

const POLL_MS = 20;
/** Timeout of a request: a stopped process accepts connections but answers nothing. */
const PATIENCE_MS = 1_000;

const watches = new Set<LogWatch>();
afterEachFile(async () => {
  await Promise.all([...watches].map((watch) => watch.stop()));
  watches.clear();
});

/** Fetches the checkpoints of one log's servers all the time, through their restarts, and keeps every note. */
export class LogWatch {
  readonly #notes = new Set<string>();
  readonly #loops: Promise<void>[] = [];
  #stopped = false;

  constructor() {
    watches.add(this);
  }

  /** Number of different notes. */
  get count(): number {
    return this.#notes.size;
  }

  /** Follows a server until it ends. */
  follow(url: string): void {
    this.#loops.push(this.#poll(url));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  /**
   * Asserts that every note is signed by the log, and that its root is that of the first leaves of `hashes` (32 bytes each,
   * in the order of the log). Then there is one root for each size, and each tree is the start of the next.
   * @throws AssertionError or TallyError if that is not so, or there are no notes
   */
  async expectOneTree(log: VerifierKey, hashes: readonly Uint8Array[]): Promise<void> {
    assert.ok(this.#notes.size > 0, 'No checkpoint was seen.');
    const seen = await Promise.all([...this.#notes].map((note) => open(note, log)));
    const roots = rootsOf(
      hashes,
      seen.map(({ size }) => size),
    );
    for (const { size, root } of seen) assert.equal(toHex(root), roots.get(size), `of ${size} leaves`);
  }

  async #poll(url: string): Promise<void> {
    while (!this.#stopped) {
      try {
        const response = await fetch(`${url}/checkpoint`, { signal: AbortSignal.timeout(PATIENCE_MS) });
        if (response.status === 200) this.#notes.add(await response.text());
      } catch (error) {
        if ((error as Error).name !== 'TimeoutError') return;
      }
      await setTimeout(POLL_MS);
    }
  }
}

const open = (note: string, log: VerifierKey): Promise<Checkpoint> =>
  openCheckpoint(note, { ...log, origin: log.name }, nodeEngine);

/** The roots over the first leaves in hex, by their number, for the given sizes up to the number of hashes. */
export function rootsOf(hashes: readonly Uint8Array[], sizes: Iterable<number>): Map<number, string> {
  const awaited = new Set(sizes);
  const roots = new Map<number, string>();
  const range = new CompactRange(undefined, nodeSha256);
  const note = (): unknown => awaited.has(range.size) && roots.set(range.size, toHex(range.root()));
  note();
  for (const hash of hashes) {
    range.append(leafOf(hash));
    note();
  }
  return roots;
}
