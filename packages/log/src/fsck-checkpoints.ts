import {
  type CompactRange,
  checkCosignature,
  cosignatureKeyHash,
  equalBytes,
  type LogKey,
  noteKeyHash,
  openCheckpoint,
  parseNote,
  TallyError,
  type VerifierKey,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Findings } from './fsck-report.ts';
import type { LogStore, StoredCheckpoint } from './log-store.ts';

/** Checks the stored checkpoints while the tree is rebuilt. */
export interface CheckpointCheck {
  /** Size of the next checkpoint to check; infinite when there is none. */
  readonly next: number;
  /** Checks all checkpoints of this tree's size, and reports those of smaller sizes that were skipped. */
  at(tree: CompactRange): Promise<void>;
  /** Checks the remaining checkpoints, whose trees have more leaves than there are. */
  end(): Promise<void>;
}

/** A witness whose cosignatures can be checked. */
export interface KnownWitness extends VerifierKey {
  readonly standing: 'configured' | 'former';
}

interface CheckpointOptions {
  readonly store: LogStore;
  readonly log: LogKey;
  readonly witnesses: readonly KnownWitness[];
}

export function checkCheckpoints(
  options: CheckpointOptions,
  findings: Findings,
  headSize: number,
): CheckpointCheck {
  const { store } = options;
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
    for (const what of await noteFaults(checkpoint, options, findings)) findings.fault(where, what);
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
      // A leader that runs meanwhile may have signed checkpoints past the head that was read at the start; the store
      // then has their trees.
      const limit = (await store.head()).size;
      while (current !== null) {
        if (current.size > limit) await check(current, null);
        await advance();
      }
    },
  };
}

/**
 * Finds what is wrong with a note: it must be the log's, agree with its row, and every known witness's cosignature must
 * be good.
 */
async function noteFaults(
  { size, root, note }: StoredCheckpoint,
  { log, witnesses }: CheckpointOptions,
  findings: Findings,
): Promise<string[]> {
  try {
    const opened = await openCheckpoint(note, log, nodeEngine);
    const faults: string[] = [];
    if (opened.size !== size || !equalBytes(opened.root, root)) faults.push('its note is of another tree');
    for (const { name, keyHash } of parseNote(note).signatures) {
      if (name === log.origin && keyHash === noteKeyHash(name, 1, log.publicKey)) continue;
      const witness = witnesses.find(
        (one) => one.name === name && keyHash === cosignatureKeyHash(name, one.publicKey),
      );
      const key_id = keyHash.toString(16).padStart(8, '0');
      findings.cosigned({ name, key_id, standing: witness?.standing ?? 'unknown' }, size);
      if (witness !== undefined && (await checkCosignature(note, witness, nodeEngine)) === null)
        faults.push(`the cosignature of ${name} is not valid`);
    }
    return faults;
  } catch (error) {
    if (error instanceof TallyError) return [error.message];
    throw error;
  }
}
