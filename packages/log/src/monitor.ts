import {
  type Checkpoint,
  type ForkFile,
  forkOf,
  openCheckpoint,
  TallyError,
  tilePath,
  type VerifierKey,
  verifierKey,
  verifyConsistency,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { fetchAtMost } from './fetch-at-most.ts';
import { HASH_BYTES } from './tree-hash.ts';
import { type TileSource, TreeReader } from './tree-reader.ts';

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
  /** Signed notes of the log that others were shown. */
  readonly others?: readonly string[] | undefined;
}

/**
 * What a monitor has found: nothing was known before (`first`), no change (`same`), growth that keeps what was there;
 * or a log that shows fewer leaves than it has signed (`rollback`), or two trees that contradict each other (`fork`).
 * After a rollback or a fork, the two signed notes are the evidence, and a fork is one file where the tiles of the log
 * bear it out (spec/anchor.md).
 */
export type Sighting =
  | { readonly kind: 'first' | 'unchanged' | 'grown'; readonly checkpoint: Checkpoint; readonly note: string }
  | {
      readonly kind: 'rollback' | 'fork';
      readonly earlier: string;
      readonly later: string;
      /** Null for a rollback, or where the log's tiles do not make up the tree that it signed. */
      readonly proof: ForkFile | null;
    };

/**
 * Checks a log once from outside, by its checkpoint and hash tiles alone, against what was seen before and what others
 * were shown. The newest good checkpoint is saved; after a rollback or a fork the earlier one stays.
 * @throws note_invalid, checkpoint_invalid, checkpoint_signature_invalid when the log's checkpoint is not good
 * @throws unavailable when the log cannot be reached or a tile that its checkpoint needs cannot be fetched;
 * log_corrupted when a tile is too short
 */
export async function followLog(options: MonitorOptions): Promise<Sighting> {
  const { fetch, url, vkey, state, others = [] } = options;
  const log = { origin: vkey.name, publicKey: vkey.publicKey };
  const earlier = await state.load();
  const later = Buffer.from(await fetchAtMost(fetch, `${url}/checkpoint`, MAX_NOTE)).toString('utf8');
  const now = await openCheckpoint(later, log, nodeEngine);
  const tree = new TreeReader(urlTiles(fetch, url));
  for (const note of earlier === null ? others : [earlier, ...others]) {
    const contradiction = await contradicts(tree, { vkey, earlier: note, later });
    if (contradiction !== null) return contradiction;
  }
  if (earlier !== null && (await openCheckpoint(earlier, log, nodeEngine)).size === now.size) {
    return { kind: 'unchanged', checkpoint: now, note: later };
  }
  await state.save(later);
  return { kind: earlier === null ? 'first' : 'grown', checkpoint: now, note: later };
}

interface Pair {
  readonly vkey: VerifierKey;
  readonly earlier: string;
  readonly later: string;
}

/** Null where the tree of the later note contains that of the earlier one. */
async function contradicts(tree: TreeReader, { vkey, earlier, later }: Pair): Promise<Sighting | null> {
  const log = { origin: vkey.name, publicKey: vkey.publicKey };
  const before = await openCheckpoint(earlier, log, nodeEngine);
  const now = await openCheckpoint(later, log, nodeEngine);
  if (now.size < before.size) return { kind: 'rollback', earlier, later, proof: null };
  if (await isGrowth(before, now, tree)) return null;
  const nodes = now.size === before.size ? [] : await tree.subproof(before.size, now.size);
  const key = verifierKey(vkey.name, vkey.publicKey);
  const proof = await forkOf({ log: key, notes: [earlier, later] }, nodes, nodeEngine).catch(orNoProof);
  return { kind: 'fork', earlier, later, proof };
}

/** The tiles of a log that forks need not make up either tree. */
function orNoProof(error: unknown): null {
  if (error instanceof TallyError && error.code === 'log_fork_invalid') return null;
  throw error;
}

async function isGrowth(before: Checkpoint, now: Checkpoint, tree: TreeReader): Promise<boolean> {
  if (before.size === 0) return true;
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
      return await fetchAtMost(fetch, `${url}/${tilePath(level, index, width)}`, width * HASH_BYTES);
    } catch (error) {
      if (width === 256) throw error;
      return await fetchAtMost(fetch, `${url}/${tilePath(level, index)}`, 256 * HASH_BYTES);
    }
  };
}
