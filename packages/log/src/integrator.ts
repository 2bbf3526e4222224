import { equalBytes, openCheckpoint, signCheckpoint, TallyError } from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { growTree, type Leads } from './grow-tree.ts';
import { type LogSigner, ownSigner } from './log-key.ts';
import type { LogStore, StoredCheckpoint, Tile, TreeHead } from './log-store.ts';
import type { NewestSeen } from './newest-seen.ts';
import { changedPartials, edgeRoot, type RightEdge, readEdge } from './right-edge.ts';
import type { LogFiles } from './storage/log-files.ts';
import { TreeReader } from './tree-reader.ts';
import { storeTiles } from './tree-source.ts';

/** Leaves between two moves of the durable head. It bounds the memory, and the work to be done again after a crash. */
const STEP_LEAVES = 32_768;

/**
 * What a step did: `idle` where every accepted leaf (`size` of them) is already under a signed checkpoint, `signed`
 * where the head moved or its checkpoint was missing, `fenced` where another process leads.
 */
export type Integration =
  | { readonly kind: 'idle'; readonly size: number }
  | { readonly kind: 'signed'; readonly checkpoint: StoredCheckpoint }
  | { readonly kind: 'fenced' };

const fenced: Integration = { kind: 'fenced' };

export interface IntegrateOptions {
  readonly store: LogStore;
  readonly log: LogSigner;
  /** The files of the log in a storage; null where the database alone has it. */
  readonly files: LogFiles | null;
  /** What this process has seen of the log. */
  readonly seen?: NewestSeen;
}

/**
 * Takes the tree one step further: at most 32,768 leaves, then a checkpoint. In this order, so that a crash at any
 * point or a leader that wakes too late leaves one root for each size: read the right edge again and hold it against
 * the durable head and the newest signed checkpoint; store the files of the larger tree, where there is a storage; move
 * the durable head under the lease; sign it; publish the note only if the lease still holds, in the database and then in
 * the storage. Before anything else, the storage catches up with the newest checkpoint.
 *
 * @param leads is asked between turns; once false, nothing more is written
 * @throws log_corrupted when the stored tree contradicts the head, a checkpoint or a file: nothing was signed
 * @throws log_behind when the database has lost a checkpoint that this process has seen: nothing was signed
 * @throws log_mismatch when the key is another one; unavailable: the next step finds out what was written
 */
export async function integrate(
  options: IntegrateOptions,
  epoch: number,
  leads: Leads,
): Promise<Integration> {
  const { store, log, files, seen } = options;
  // The checkpoint is read before the head. The head never falls, so a checkpoint that is ahead of it is a fault.
  const signed = await store.newestCheckpoint();
  seen?.require(signed);
  const head = await store.head();
  const accepted = await store.countLeaves();
  if (signed !== null && files !== null && !(await files.publish(signed, leads))) return fenced;
  if (accepted <= head.size && signed?.size === head.size) return { kind: 'idle', size: head.size };

  const edge = await checkedEdge(store, log, head, signed);
  // The empty tree is signed too, so that clients find a checkpoint, unless there are leaves already.
  if (accepted <= head.size || (signed?.size ?? 0) < head.size) {
    return publish(options, epoch, head, leads);
  }
  const size = Math.min(accepted, head.size + STEP_LEAVES);
  const to = await advance(options, { epoch, from: head, edge, size }, leads);
  return to === null ? fenced : publish(options, epoch, to, leads);
}

/**
 * Reads the right edge of the head, and checks that its root is the head's and that its tree extends the newest
 * checkpoint's.
 */
async function checkedEdge(
  store: LogStore,
  log: LogSigner,
  head: TreeHead,
  signed: StoredCheckpoint | null,
): Promise<RightEdge> {
  const edge = await readEdge(store, head.size);
  requireRoot(edgeRoot(edge), head.root, `the head of ${head.size} leaves`);
  if (signed === null) return edge;
  const { size, root } = await openStored(log, signed);
  if (size > head.size) {
    throw corrupted(`A checkpoint of ${size} leaves is signed, but the tree has ${head.size}.`);
  }
  const there = size === head.size ? head.root : await new TreeReader(storeTiles(store)).root(size);
  requireRoot(there, root, `the checkpoint of ${size} leaves`);
  return edge;
}

/** Verifies a stored note and reads it. @throws log_corrupted when the log did not sign it, or it differs from its row */
async function openStored(log: LogSigner, stored: StoredCheckpoint): Promise<TreeHead> {
  const checkpoint = await openCheckpoint(stored.note, log, nodeEngine).catch((cause: unknown) => {
    throw corrupted(
      `The stored checkpoint of ${stored.size} leaves is not a note that this log signed.`,
      cause,
    );
  });
  if (checkpoint.size === stored.size && equalBytes(checkpoint.root, stored.root)) return checkpoint;
  throw corrupted(`The stored checkpoint of ${stored.size} leaves holds the note of another tree.`);
}

function requireRoot(found: Uint8Array, expected: Uint8Array, what: string): void {
  if (!equalBytes(found, expected)) throw corrupted(`The tiles do not have the root of ${what}.`);
}

interface Step {
  readonly epoch: number;
  readonly from: TreeHead;
  readonly edge: RightEdge;
  /** Leaves of the larger tree. */
  readonly size: number;
}

/** Moves the durable head. Returns null when another process leads. */
async function advance(
  { store, files }: IntegrateOptions,
  { epoch, from, edge, size }: Step,
  leads: Leads,
): Promise<TreeHead | null> {
  const tiles: Tile[] = [];
  const keep = async (some: readonly Tile[]): Promise<void> => {
    tiles.push(...some);
    await files?.put(some);
  };
  const grown = await growTree(store, edge, size, leads, keep);
  if (grown === null) return null;
  await keep(changedPartials(from.size, grown));
  files?.complete(size);
  const to = { size, root: edgeRoot(grown) };
  return (await store.advance({ epoch, from, to, tiles })) === 'advanced' ? to : null;
}

async function publish(
  { store, log, files }: IntegrateOptions,
  epoch: number,
  head: TreeHead,
  leads: Leads,
): Promise<Integration> {
  if (!leads(head.size)) return fenced;
  const note = await signCheckpoint({ origin: log.origin, ...head }, ownSigner(log));
  const checkpoint = { ...head, note };
  if ((await store.putCheckpoint(epoch, checkpoint)) === 'fenced') return fenced;
  return files === null || (await files.publish(checkpoint, leads)) ? { kind: 'signed', checkpoint } : fenced;
}

const corrupted = (message: string, cause?: unknown): TallyError =>
  new TallyError('log_corrupted', message, { cause });
