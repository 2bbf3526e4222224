import type { LogKey, VerifierKey } from '@tallystick/core';
import type { Chain } from '../chain/chain.ts';
import type { LogStore } from '../store/log-store.ts';
import { checkCheckpoints } from './fsck-checkpoints.ts';
import { checkPostings, type DecodeAttempt } from './fsck-postings.ts';
import { Findings, type FsckReport } from './fsck-report.ts';
import { checkStrayTiles, checkTree } from './fsck-tree.ts';

export interface FsckOptions {
  readonly store: LogStore;
  readonly log: LogKey;
  /** Whose cosignatures can be checked; any other signature than theirs and the log's is a fault. */
  readonly witnesses?: readonly VerifierKey[];
  /** Asked for the transaction of every confirmed posting, where it is given. */
  readonly chain?: Pick<Chain, 'transaction'>;
  readonly decodeAttempt?: DecodeAttempt;
  /** Called now and then, with the leaves checked so far and all that there are. */
  readonly onProgress?: (checked: number, leaves: number) => void;
}

/**
 * Recomputes the log from its leaves, in one pass and bounded memory, and names all that differs: leaf hashes, every
 * tile, the root and signatures of every checkpoint, every posting and its transactions. A leaf that is in no tree yet
 * has nothing but its place to be held against.
 *
 * It writes nothing, and may run beside a server: what is accepted or published meanwhile is not looked at.
 */
export async function fsckLog(options: FsckOptions): Promise<FsckReport> {
  const { store } = options;
  const findings = new Findings();
  const head = await store.head();
  const accepted = await store.countLeaves();
  const checkpoints = checkCheckpoints(options, findings, head.size);
  await checkTree(store, findings, head, accepted, checkpoints, options.onProgress);
  await checkStrayTiles(store, findings, head.size);
  await checkPostings(options, findings, head.size);
  return findings.report();
}
