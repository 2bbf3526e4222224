import { setTimeout } from 'node:timers/promises';
import { CompactRange, leafOf, openCheckpoint, toHex, type VerifierKey } from '@tallystick/core';
import { nodeEngine } from '@tallystick/server';
import { afterAll, expect } from 'vitest';

const POLL_MS = 20;
/** A process that is stopped takes connections, and answers nothing. */
const PATIENCE_MS = 1_000;

const watches = new Set<LogWatch>();
afterAll(async () => {
  await Promise.all([...watches].map((watch) => watch.stop()));
});

/** Asks servers of one log for their checkpoint all the time, through their restarts, and keeps every note. */
export class LogWatch {
  readonly #notes = new Set<string>();
  readonly #loops: Promise<void>[] = [];
  #stopped = false;

  constructor() {
    watches.add(this);
  }

  /** How many different notes were seen. */
  get count(): number {
    return this.#notes.size;
  }

  /** Follows a server until its end. */
  follow(url: string): void {
    this.#loops.push(this.#poll(url));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  /**
   * Every note that was seen is signed by the log, and its root is that of the first leaves of `hashes` (32 bytes each,
   * in the order of the log): so there is one root for each size, and each tree is the start of the next.
   */
  async expectOneTree(log: VerifierKey, hashes: readonly Uint8Array[]): Promise<void> {
    expect(this.#notes.size).toBeGreaterThan(0);
    const roots = rootsOf(hashes);
    for (const note of this.#notes) {
      const { size, root } = await openCheckpoint(note, { ...log, origin: log.name }, nodeEngine);
      expect(toHex(root), `of ${size} leaves`).toBe(roots(size));
    }
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

/** The hex roots over the first leaves, by their number. */
export function rootsOf(hashes: readonly Uint8Array[]): (size: number) => string | undefined {
  const range = new CompactRange();
  const roots: string[] = [toHex(range.root())];
  for (const hash of hashes) {
    range.append(leafOf(hash));
    roots.push(toHex(range.root()));
  }
  return (size) => roots[size];
}
