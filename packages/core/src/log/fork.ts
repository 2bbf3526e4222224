import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import { equalBytes } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { copyJson } from '../json/copy.ts';
import { rebuildRoots } from '../merkle/consistency.ts';
import { verifyInclusion } from '../merkle/inclusion.ts';
import {
  constant,
  hex64,
  type Infer,
  integer,
  listOf,
  nonEmptyText,
  object,
  oneOf,
  requireShape,
} from '../receipts/shape.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import { parseVerifierKey } from './verifier-key.ts';

/** Longest path: a tree of fewer than 2^53 leaves needs no longer one. */
const MAX_PATH = 53;

const path = listOf(hex64, `a list of at most ${MAX_PATH} hashes`, MAX_PATH);
const inclusion = object({ leaf_hash: hex64, path }, { closed: true });

const shape = object(
  {
    type: constant('svc-log-fork-v1'),
    /** The log's key: a C2SP verifier key, whose name is the origin. */
    log: nonEmptyText,
    /** Two signed notes of the log, the smaller tree first. */
    smaller: nonEmptyText,
    larger: nonEmptyText,
    proof: object(
      { kind: oneOf('roots', 'leaves', 'subtrees') },
      {
        optional: {
          /** `leaves`: index of the leaf, and its place in the smaller and in the larger tree. */
          index: integer(0),
          in_smaller: inclusion,
          in_larger: inclusion,
          /** `subtrees`: SUBPROOF(smaller size, larger tree, false) of RFC 6962, section 2.1.2. */
          path,
        },
        closed: true,
      },
    ),
  },
  { closed: true },
);

/** A proof that a log signed two trees that contradict each other, as JSON. Who has it needs nothing else. */
export type ForkFile = Infer<typeof shape>;

/** Where a leaf stands in a tree: its hash, and the siblings to the root; lower-case hex. */
export type LeafPlace = Infer<typeof inclusion>;

/** What a fork file proves: that the log signed both trees, and why there is no log that holds both. */
export interface ProvenFork {
  readonly origin: string;
  /** The log's verifier key. */
  readonly log: string;
  readonly kind: 'roots' | 'leaves' | 'subtrees';
  readonly smaller: Checkpoint;
  readonly larger: Checkpoint;
  readonly detail: string;
}

const invalid = (message: string): TallyError => new TallyError('log_fork_invalid', message);

/**
 * Checks a fork file by itself, without network or trust.
 * @throws log_fork_invalid unless it proves a fork; note_invalid, checkpoint_invalid, checkpoint_signature_invalid for notes
 * that the log has not signed
 */
export async function verifyFork(file: unknown, engine: Ed25519Engine = defaultEngine): Promise<ProvenFork> {
  const fork = requireShape(shape, copyJson(file), 'log_fork_invalid');
  const { name: origin, publicKey } = parseVerifierKey(fork.log);
  const smaller = await openCheckpoint(fork.smaller, { origin, publicKey }, engine);
  const larger = await openCheckpoint(fork.larger, { origin, publicKey }, engine);
  if (smaller.size > larger.size) throw invalid('The checkpoint of the smaller tree must come first.');
  const { kind } = fork.proof;
  const contradiction = { roots: differentRoots, leaves: differentLeaves, subtrees: differentSubtrees }[kind];
  const detail = contradiction(fork.proof, smaller, larger);
  return { origin, log: fork.log, kind, smaller, larger, detail };
}

type Proof = ForkFile['proof'];

/** @throws log_fork_invalid unless two trees of one size have different roots */
function differentRoots(_: Proof, smaller: Checkpoint, larger: Checkpoint): string {
  if (smaller.size !== larger.size) throw invalid('The two trees differ in size, so their roots may differ.');
  if (equalBytes(smaller.root, larger.root)) throw invalid('Both checkpoints have the same root.');
  return `The log signed two roots over ${smaller.size} leaves.`;
}

/** @throws log_fork_invalid unless one index holds different leaves in the two trees */
function differentLeaves(
  { index, in_smaller, in_larger }: Proof,
  smaller: Checkpoint,
  larger: Checkpoint,
): string {
  if (index === undefined || in_smaller === undefined || in_larger === undefined) {
    throw invalid('A proof by leaves has an index, and the place of the leaf in both trees.');
  }
  for (const [{ leaf_hash, path }, { size, root }] of [
    [in_smaller, smaller],
    [in_larger, larger],
  ] as const) {
    const hashes = path.map((hash) => fromHex(hash, 32));
    if (verifyInclusion({ index, size, leafHash: fromHex(leaf_hash, 32), path: hashes, root })) continue;
    throw invalid(`A path does not lead from the leaf ${index} to the root of the tree of ${size} leaves.`);
  }
  if (in_smaller.leaf_hash === in_larger.leaf_hash) throw invalid(`Both trees have the same leaf ${index}.`);
  return `The log signed two trees with different leaves at index ${index}.`;
}

/** @throws log_fork_invalid unless the nodes make up the larger tree, and another tree of the smaller size */
function differentSubtrees({ path }: Proof, smaller: Checkpoint, larger: Checkpoint): string {
  const nodes = path?.map((hash) => fromHex(hash, 32));
  const rebuilt = nodes === undefined ? null : rebuildRoots(smaller.size, larger.size, nodes);
  if (rebuilt === null || smaller.size === larger.size) {
    throw invalid('The nodes are not those of a tree that has grown from the one size to the other.');
  }
  if (!equalBytes(rebuilt.newer, larger.root)) {
    throw invalid(`The nodes do not make up the tree of ${larger.size} leaves.`);
  }
  if (equalBytes(rebuilt.older, smaller.root)) {
    throw invalid(`The tree of ${larger.size} leaves contains that of ${smaller.size}: this is growth.`);
  }
  return `The first ${smaller.size} leaves of the tree of ${larger.size} have the root ${toHex(rebuilt.older)}, but the log signed ${toHex(smaller.root)}.`;
}

/** Two checkpoints of a log as signed notes, in any order, and the log's verifier key. */
interface Notes {
  readonly log: string;
  readonly notes: readonly [string, string];
}

/**
 * Makes the fork file of two checkpoints.
 * @param subproof the nodes of the larger tree, as `subproofNodes` names them; not needed for trees of one size
 * @throws as `verifyFork` where they prove no fork
 */
export async function forkOf(
  { log, notes }: Notes,
  subproof: readonly Uint8Array[] = [],
  engine: Ed25519Engine = defaultEngine,
): Promise<ForkFile> {
  const { name: origin, publicKey } = parseVerifierKey(log);
  const [a, b] = notes;
  const first = await openCheckpoint(a, { origin, publicKey }, engine);
  const second = await openCheckpoint(b, { origin, publicKey }, engine);
  const [smaller, larger] = first.size <= second.size ? [a, b] : [b, a];
  const proof: Proof =
    first.size === second.size ? { kind: 'roots' } : { kind: 'subtrees', path: subproof.map(toHex) };
  const file: ForkFile = { type: 'svc-log-fork-v1', log, smaller, larger, proof };
  await verifyFork(file, engine);
  return file;
}
