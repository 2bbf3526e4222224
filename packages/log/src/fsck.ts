import type { Chain } from '@tallystick/chain';
import { equalBytes, type LogKey, type VerifierKey } from '@tallystick/core';
import { checkCheckpoints, type KnownWitness } from './fsck-checkpoints.ts';
import { FilesCheck } from './fsck-files.ts';
import { checkPostings, type DecodeAttempt } from './fsck-postings.ts';
import { Findings, type FsckReport } from './fsck-report.ts';
import { checkStrayTiles, checkTree } from './fsck-tree.ts';
import type { LogStore } from './log-store.ts';
import type { ObjectStorage } from './storage/object-storage.ts';

export interface FsckOptions {
  readonly store: LogStore;
  readonly log: LogKey;
  /** The witnesses that are configured now. The log's store also has the keys of former ones. */
  readonly witnesses?: readonly VerifierKey[];
  /** If given, it is asked for the transaction of every confirmed posting. */
  readonly chain?: Pick<Chain, 'transaction'>;
  readonly decodeAttempt?: DecodeAttempt;
  /** Where the log's files are stored: they are compared too. */
  readonly storage?: ObjectStorage | undefined;
  /** Called from time to time with the number of leaves checked so far, and of all. */
  readonly onProgress?: (checked: number, leaves: number) => void;
}

/**
 * Recomputes the log from its leaves, in one pass and bounded memory, and reports everything that differs: leaf hashes,
 * every tile, the root and signatures of every checkpoint, every posting and its transactions, and the files in the storage if there is one. A signature by a key
 * that is neither the log's nor a witness's is listed, and is no fault. Of a leaf that is in no tree yet, only the
 * index can be checked. It writes nothing, and may run beside a server: what is accepted or published meanwhile is not
 * checked.
 */
export async function fsckLog(options: FsckOptions): Promise<FsckReport> {
  const { store, log, storage } = options;
  const findings = new Findings();
  // Read before the head, which never falls, so that its tree holds all that is published.
  const files = await FilesCheck.open({ store, log, storage }, findings);
  const head = await store.head();
  const accepted = await store.countLeaves();
  const checkpoints = checkCheckpoints(
    { store, log, witnesses: await knownWitnesses(options) },
    findings,
    head.size,
  );
  await checkTree({ store, findings, head, accepted, checkpoints, files }, options.onProgress);
  await checkStrayTiles(store, findings, head.size);
  await checkPostings(options, findings, head.size);
  return findings.report();
}

/** The witnesses that are configured, then the former ones. */
async function knownWitnesses({ store, witnesses = [] }: FsckOptions): Promise<KnownWitness[]> {
  const isConfigured = (one: VerifierKey): boolean =>
    witnesses.some(({ name, publicKey }) => name === one.name && equalBytes(publicKey, one.publicKey));
  const former = (await store.listWitnesses()).filter((one) => !isConfigured(one));
  return [
    ...witnesses.map((one) => ({ ...one, standing: 'configured' as const })),
    ...former.map((one) => ({ ...one, standing: 'former' as const })),
  ];
}
