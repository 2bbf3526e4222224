import {
  type Checkpoint,
  openCheckpoint,
  TallyError,
  tilePath,
  type VerifierKey,
  verifyConsistency,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { readAtMost } from './read-at-most.ts';
import { HASH_BYTES } from './tree-hash.ts';
import { type TileSource, TreeReader } from './tree-reader.ts';

const TIMEOUT_MS = 10_000;
const MAX_NOTE = 131_072;

/** Where a monitor keeps the newest checkpoint that it has seen, as a signed note. */
export interface MonitorState {
  /** The saved note; null before the first. */
  load(): Promise<string | null>;
  /** Saves a note. It is durable when it resolves. */
  save(note: string): Promise<void>;
}

export interface MonitorOptions {
  readonly fetch: typeof globalThis.fetch;
  /** The log's prefix, without a trailing slash: `<url>/checkpoint`, `<url>/tile/...`. */
  readonly url: string;
  readonly vkey: VerifierKey;
  readonly state: MonitorState;
}

/**
 * What a monitor has found: nothing was known before (`first`), no change (`same`), growth that keeps what was there;
 * or a log that shows fewer leaves than it has signed (`rollback`), or two trees that contradict each other (`fork`).
 * After a rollback or a fork, the two signed notes are the evidence.
 */
export type Sighting =
  | { readonly kind: 'first' | 'unchanged' | 'grown'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'rollback' | 'fork'; readonly earlier: string; readonly later: string };

/**
 * Checks a log once from outside, by its checkpoint and hash tiles alone, against what was seen before. The newest good
 * checkpoint is saved; after a rollback or a fork the earlier one stays.
 * @throws note_invalid, checkpoint_invalid, checkpoint_signature_invalid when the log's checkpoint is not good
 * @throws unavailable when the log cannot be reached or a tile that its checkpoint needs cannot be fetched;
 * log_corrupted when a tile is too short
 */
export async function followLog({ fetch, url, vkey, state }: MonitorOptions): Promise<Sighting> {
  const log = { origin: vkey.name, publicKey: vkey.publicKey };
  const earlier = await state.load();
  const later = Buffer.from(await get(fetch, `${url}/checkpoint`, MAX_NOTE)).toString('utf8');
  const now = await openCheckpoint(later, log, nodeEngine);
  if (earlier === null) {
    await state.save(later);
    return { kind: 'first', checkpoint: now };
  }
  const before = await openCheckpoint(earlier, log, nodeEngine);
  if (now.size < before.size) return { kind: 'rollback', earlier, later };
  if (!(await isGrowth(before, now, urlTiles(fetch, url)))) return { kind: 'fork', earlier, later };
  if (now.size === before.size) return { kind: 'unchanged', checkpoint: now };
  await state.save(later);
  return { kind: 'grown', checkpoint: now };
}

async function isGrowth(before: Checkpoint, now: Checkpoint, tiles: TileSource): Promise<boolean> {
  if (before.size === 0) return true;
  const tree = new TreeReader(tiles);
  const path = await tree.consistencyProof(before.size, now.size);
  return verifyConsistency({
    size1: before.size,
    size2: now.size,
    root1: before.root,
    root2: now.root,
    path,
  });
}

/** Reads a log's public tiles. A partial tile may be gone once it is full. */
function urlTiles(fetch: typeof globalThis.fetch, url: string): TileSource {
  return async (level, index, width) => {
    try {
      return await get(fetch, `${url}/${tilePath(level, index, width)}`, width * HASH_BYTES);
    } catch (error) {
      if (width === 256) throw error;
      return await get(fetch, `${url}/${tilePath(level, index)}`, 256 * HASH_BYTES);
    }
  };
}

async function get(fetch: typeof globalThis.fetch, url: string, limit: number): Promise<Uint8Array> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.status === 200) return await readAtMost(answer, limit);
    await answer.body?.cancel();
    throw new RangeError(`The status is ${answer.status}.`);
  } catch (cause) {
    throw new TallyError('unavailable', `${url} can’t be fetched.`, { cause });
  }
}
