import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rawDecoder } from '@tallystick/chain';
import {
  fromBase64url,
  type JsonObject,
  parseAnchorRef,
  parseVerifierKey,
  type VerifierKey,
} from '@tallystick/core';
import { recordedAnchors } from '@tallystick/issuers';
import { type FsckReport, fsckLog } from '@tallystick/log';
import { openLogStorage, openStore, readConfig } from '@tallystick/server';
import { vi } from 'vitest';
import type { Random } from '../packages/core/test/random.ts';
import { readerOf } from './posting-chain.ts';
import { type Env, tally } from './process.ts';
import { drawing } from './random.ts';

/** The header of a log's client: its API key. */
export type Key = { readonly authorization: string };

/** Creates a key in the database of the service with this environment, whether it runs or not. */
export async function createKey(tier: 'pro' | 'scale' | 'enterprise', env: Env): Promise<Key> {
  const { code, stdout, stderr } = await tally(['apikey', 'create', '--tier', tier, '--json'], env);
  assert.equal(code, 0, stderr);
  return { authorization: `Bearer ${(JSON.parse(stdout) as { key: string }).key}` };
}

/** The SHA-256 of a text, as `canonical_sha256` takes it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export const bytesOf = (hash: string): Uint8Array => fromBase64url(hash, 32);

/** Submits hashes and returns their indexes in the log. Rejects when the connection breaks or is aborted. */
export async function place(
  url: string,
  key: Key,
  hashes: readonly string[],
  signal?: AbortSignal,
): Promise<number[]> {
  const response = await fetch(`${url}/v1/anchor/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...key },
    body: JSON.stringify({ canonical_sha256: hashes }),
    signal: signal ?? null,
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { results } = JSON.parse(text) as { results: { anchor_ref: string }[] };
  return results.map(({ anchor_ref }) => parseAnchorRef(anchor_ref).index);
}

/** Submitted hashes, and the indexes that were answered for them, which must never change. */
export class Placed {
  readonly #places = new Map<string, number>();
  readonly #unanswered = new Set<string>();
  readonly #name: string;
  readonly #random: Random;
  #made = 0;

  constructor(name: string) {
    this.#name = name;
    this.#random = drawing(name);
  }

  get answered(): number {
    return this.#places.size;
  }

  /** All submitted hashes in the order of the log, which must hold no others. */
  get hashes(): Uint8Array[] {
    assert.deepEqual([...this.#unanswered], [], 'not answered');
    const placed = [...this.#places].sort(([, a], [, b]) => a - b);
    assert.deepEqual(
      placed.map(([, index]) => index),
      placed.map((_, at) => at),
      'the places are not contiguous',
    );
    return placed.map(([hash]) => bytesOf(hash));
  }

  /** Asserts that every answered place is in a log of these hashes, which may hold others too. */
  expectIn(hashes: readonly Uint8Array[]): void {
    for (const [hash, index] of this.#places)
      assert.equal(Buffer.from(hashes[index] ?? []).toString('base64url'), hash, `the place ${index}`);
  }

  /** As `place`, with 1 to `most` new hashes. */
  placeSome(url: string, key: Key, most: number): Promise<void> {
    return this.place(url, key, 1 + this.#random.below(most));
  }

  /** Submits new hashes and as many old ones. Rejects when the connection breaks or is aborted. */
  async place(url: string, key: Key, count: number, signal?: AbortSignal): Promise<void> {
    const fresh = Array.from({ length: count }, () => hashOf(`${this.#name} ${this.#made++}`));
    const from = this.#random.below(this.#places.size);
    const old = this.#places.keys().drop(from).take(count).toArray();
    await this.send(url, key, [...fresh, ...old], signal);
  }

  /** Submits the hashes again that were not answered. */
  async repeat(url: string, key: Key): Promise<void> {
    if (this.#unanswered.size > 0) await this.send(url, key, [...this.#unanswered]);
  }

  /** Submits hashes, old or new. Rejects when the connection breaks or is aborted. */
  async send(url: string, key: Key, hashes: readonly string[], signal?: AbortSignal): Promise<void> {
    for (const hash of hashes) if (!this.#places.has(hash)) this.#unanswered.add(hash);
    const places = await place(url, key, hashes, signal);
    assert.equal(places.length, hashes.length);
    for (const [at, hash] of hashes.entries()) {
      const index = places[at] ?? -1;
      assert.equal(index, this.#places.get(hash) ?? index, `${hash} has moved`);
      this.#places.set(hash, index);
      this.#unanswered.delete(hash);
    }
  }
}

export interface LogStatus {
  readonly origin: string;
  readonly verifier_key: string;
  readonly accepted: number;
  readonly tree_size: number;
  readonly anchored_size: number;
  readonly accepting: string;
  readonly posting: string;
  readonly chain: { readonly network: string; readonly chain_id: number; readonly address: string } | null;
}

const PATIENCE_MS = 20_000;

export async function getJson<T = JsonObject>(url: string): Promise<T> {
  return (await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })).json() as Promise<T>;
}

export const statusOf = (url: string): Promise<LogStatus> => getJson(`${url}/v1/log`);

export const anchorOf = (url: string, hash: string): Promise<JsonObject> =>
  getJson(`${url}/v1/anchor/by-hash/${hash}`);

export async function logKeyOf(url: string): Promise<VerifierKey> {
  return parseVerifierKey((await statusOf(url)).verifier_key);
}

/** The value of a metric, `name` or `name{label="value"}`; zero if there is none. */
export async function metric(url: string, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const line = (await response.text()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

/** Calls `ask` until its result is accepted; a failure counts as not accepted. Rejects with the last result. */
export function until<T>(ask: () => Promise<T>, accepts: (found: T) => boolean, seconds = 60): Promise<T> {
  const attempt = async (): Promise<T> => {
    const found = await ask();
    if (accepts(found)) return found;
    throw new Error(`Still ${JSON.stringify(found)}`);
  };
  return vi.waitFor(attempt, { timeout: seconds * 1000, interval: 100 });
}

/** Waits until the first `size` leaves are under a root that is final on the chain. */
export async function untilAnchored(url: string, size: number): Promise<void> {
  await until(
    () => statusOf(url),
    ({ anchored_size }) => anchored_size >= size,
  );
}

/** Waits until a signed checkpoint covers the first `size` leaves. */
export async function untilSigned(url: string, size: number): Promise<void> {
  await until(
    () => statusOf(url),
    ({ tree_size }) => tree_size >= size,
  );
}

/** What `fsck` reports, besides counts, about a sound log. */
export const SOUND = { faults: [], faultCount: 0 };

/** Runs `tally log fsck` on a service's data, in this process; it checks the chain too if a node is given. */
export async function fsck(env: Env, rpcUrl?: string): Promise<FsckReport> {
  const config = readConfig(env);
  const store = await openStore(config);
  try {
    const { log } = await recordedAnchors(store);
    if (log === null) throw new Error('No service has run on these data.');
    return await fsckLog({
      store: store.log,
      log: { origin: log.origin, publicKey: bytesOf(log.public_key) },
      decodeAttempt: await rawDecoder(),
      storage: (await openLogStorage(config)) ?? undefined,
      ...(rpcUrl === undefined ? {} : { chain: await readerOf(rpcUrl) }),
    });
  } finally {
    await store.close();
  }
}
