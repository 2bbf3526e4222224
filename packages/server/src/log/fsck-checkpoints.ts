import {
  type CompactRange,
  checkCosignature,
  equalBytes,
  type LogKey,
  noteKeyHash,
  openCheckpoint,
  parseNote,
  TallyError,
  type VerifierKey,
} from '@tallystick/core';
import { nodeEngine } from '../crypto/node-ed25519.ts';
import type { LogStore, StoredCheckpoint } from '../store/log-store.ts';
import type { Findings } from './fsck-report.ts';

/** Walks the stored checkpoints in step with the tree. */
export interface CheckpointCheck {
  /** The size of the next one to check; infinite when there is none. */
  readonly next: number;
  /** Checks all that are of this size or were passed by. */
  at(tree: CompactRange): Promise<void>;
  /** Checks those that are left, which are over more leaves than there are. */
  end(): Promise<void>;
}

export function checkCheckpoints(
  { store, log, witnesses = [] }: { store: LogStore; log: LogKey; witnesses?: readonly VerifierKey[] },
  findings: Findings,
  headSize: number,
): CheckpointCheck {
  const stored = store.listCheckpoints()[Symbol.asyncIterator]();
  let current: StoredCheckpoint | null = null;
  let begun = false;

  async function advance(): Promise<void> {
    const { value, done } = await stored.next();
    current = done === true ? null : value;
  }

  async function check(checkpoint: StoredCheckpoint, root: Uint8Array | null): Promise<void> {
    findings.counts.checkpoints += 1;
    const where = `checkpoint ${checkpoint.size}`;
    if (root === null) findings.fault(where, `is over more leaves than the tree’s ${headSize}`);
    else if (!equalBytes(root, checkpoint.root)) findings.fault(where, 'its root is not that of the leaves');
    for (const what of await noteFaults(checkpoint, log, witnesses)) findings.fault(where, what);
  }

  return {
    get next() {
      return current?.size ?? Number.POSITIVE_INFINITY;
    },
    async at(tree) {
      if (!begun) await advance();
      begun = true;
      while (current !== null && current.size <= tree.size) {
        await check(current, current.size === tree.size ? tree.root() : null);
        await advance();
      }
    },
    async end() {
      // Those past the head at the start may be of a leader that runs meanwhile; the store then has their tree.
      const limit = (await store.head()).size;
      while (current !== null) {
        if (current.size > limit) await check(current, null);
        await advance();
      }
    },
  };
}

/** What is wrong with a note: it must be the log's, say what its row says, and carry no signature that can't be checked. */
async function noteFaults(
  { size, root, note }: StoredCheckpoint,
  log: LogKey,
  witnesses: readonly VerifierKey[],
): Promise<string[]> {
  try {
    const opened = await openCheckpoint(note, log, nodeEngine);
    const same = opened.size === size && equalBytes(opened.root, root);
    return [
      ...(same ? [] : ['its note is of another tree']),
      ...(await signatureFaults(note, log, witnesses)),
    ];
  } catch (error) {
    if (error instanceof TallyError) return [error.message];
    throw error;
  }
}

async function signatureFaults(
  note: string,
  log: LogKey,
  witnesses: readonly VerifierKey[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, keyHash } of parseNote(note).signatures) {
    if (name === log.origin && keyHash === noteKeyHash(name, 1, log.publicKey)) continue;
    const witness = witnesses.find(
      (one) => one.name === name && keyHash === noteKeyHash(name, 4, one.publicKey),
    );
    if (witness === undefined) faults.push(`a signature in the name of ${name} is of no key that is known`);
    else if ((await checkCosignature(note, witness, nodeEngine)) === null)
      faults.push(`the cosignature of ${name} is not good`);
  }
  return faults;
}
