import { checkCosignature, emptyRoot, signCheckpoint, TallyError, withSignature } from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { Duty, LogMetrics } from './leader.ts';
import { type LogSigner, ownSigner } from './log-key.ts';
import type { LogStore, StoredCheckpoint } from './log-store.ts';
import type { TreeReader } from './tree-reader.ts';
import { askWitness, type WitnessConfig } from './witness-client.ts';

export interface CosignerOptions {
  readonly store: LogStore;
  readonly log: LogSigner;
  readonly tree: TreeReader;
  readonly witnesses: readonly WitnessConfig[];
  readonly fetch: typeof globalThis.fetch;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: LogMetrics;
}

/** Milliseconds after which a witness that gave no cosignature is asked again: at first, and at most after many failures. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Why a witness gave no cosignature. */
interface Trouble {
  readonly reason: string;
  readonly waitMs: number;
  /** When the witness is asked again. */
  readonly askAt: number;
}

/**
 * Has the witnesses cosign the newest checkpoint after it is published. Publishing never waits for them; posting does, for
 * as long as a request to them may take. A witness that fails is counted, told in the log when that begins, changes and ends, and
 * asked again after a second, then more and more seldom, up to once a minute.
 */
export interface Cosigner extends Duty {
  /** Has the newest checkpoint cosigned, and returns it with what cosignatures it has then; null before the first. */
  newest(epoch: number): Promise<StoredCheckpoint | null>;
  /**
   * Compares the stored log with what the witnesses have seen of it. A witness that cannot be reached is skipped.
   * @throws log_behind, log_corrupted
   */
  checkNotBehind(): Promise<void>;
}

export function createCosigner(options: CosignerOptions): Cosigner {
  const { store, log, witnesses, clock, logger, metrics } = options;
  /** Size of the tree that each witness last cosigned, as far as it is known. */
  const sizes = new Map<WitnessConfig, number>();
  const troubles = new Map<WitnessConfig, Trouble>();

  /** The note with the witness's cosignature, or null where it gave none. @throws log_behind, log_corrupted */
  async function cosign(witness: WitnessConfig, checkpoint: StoredCheckpoint): Promise<string | null> {
    const { name } = witness;
    try {
      const note = await request(options, sizes, witness, checkpoint);
      if (note !== null && troubles.delete(witness))
        logger.info({ witness: name }, 'a witness cosigns again');
      return note;
    } catch (error) {
      if (!(error instanceof TallyError) || error.code !== 'unavailable') throw error;
      metrics.failed('cosign');
      const before = troubles.get(witness);
      const waitMs = before === undefined ? FIRST_WAIT_MS : Math.min(2 * before.waitMs, LONGEST_WAIT_MS);
      troubles.set(witness, { reason: error.message, waitMs, askAt: clock() + waitMs });
      if (before?.reason !== error.message)
        logger.warn({ err: error, witness: name }, 'a witness did not cosign');
      return null;
    }
  }

  /** One at a time: a witness that has cosigned a newer checkpoint does not cosign an older one. */
  let running: Promise<unknown> = Promise.resolve();

  async function cosignNewest(epoch: number): Promise<StoredCheckpoint | null> {
    const newest = await store.newestCheckpoint();
    if (newest === null) return null;
    const missing: WitnessConfig[] = [];
    for (const witness of witnesses) {
      if (clock() < (troubles.get(witness)?.askAt ?? 0)) continue;
      if ((await checkCosignature(newest.note, witness, nodeEngine)) === null) missing.push(witness);
    }
    const notes = await Promise.all(missing.map((witness) => cosign(witness, newest)));
    const note = notes.reduce<string>(
      (all, one) => (one === null ? all : withSignature(all, lastLine(one))),
      newest.note,
    );
    if (note !== newest.note) await store.putCheckpoint(epoch, { ...newest, note });
    return { ...newest, note };
  }

  function next(epoch: number): Promise<StoredCheckpoint | null> {
    const turn = running.then(() => cosignNewest(epoch));
    running = turn.catch(() => {});
    return turn;
  }

  return {
    newest: next,

    async checkNotBehind() {
      const newest = (await store.newestCheckpoint()) ?? (await emptyCheckpoint(log));
      await Promise.all(witnesses.map((witness) => cosign(witness, newest)));
    },

    async step(epoch) {
      await next(epoch);
    },
  };
}

const lastLine = (note: string): string => note.slice(note.lastIndexOf('\n', note.length - 2) + 1);

/** A checkpoint of the empty tree, by which a log that has lost all its data can still ask a witness. */
async function emptyCheckpoint(log: LogSigner): Promise<StoredCheckpoint> {
  const head = { size: 0, root: emptyRoot() };
  return { ...head, note: await signCheckpoint({ origin: log.origin, ...head }, ownSigner(log)) };
}

/**
 * Asks a witness for a cosignature with the size that it is known to have, and again if it answers with another size: twice, since
 * it may be asked for its cosignature by another key meanwhile.
 */
async function request(
  { store, tree, fetch }: CosignerOptions,
  sizes: Map<WitnessConfig, number>,
  witness: WitnessConfig,
  checkpoint: StoredCheckpoint,
): Promise<string | null> {
  const { size, note } = checkpoint;
  for (let attempt = 0; attempt < 3; attempt++) {
    const old = Math.min(sizes.get(witness) ?? size, size);
    const proof = old === 0 || old === size ? [] : await tree.consistencyProof(old, size);
    const answer = await askWitness(witness, { old, proof, checkpoint: note }, fetch);
    if (answer.kind === 'inconsistent') throw forked(witness);
    if (answer.kind === 'cosigned') {
      sizes.set(witness, size);
      return answer.note;
    }
    if (answer.size === size && old === size) throw forked(witness);
    if (answer.size > size) return requireKnown(store, witness, answer.size);
    sizes.set(witness, answer.size);
  }
  throw new TallyError('unavailable', `The witness ${witness.name} keeps changing what it has cosigned.`);
}

/** Checks that a tree which a witness has seen is in the store: another process may have published it since. */
async function requireKnown(store: LogStore, witness: WitnessConfig, size: number): Promise<null> {
  const newest = (await store.newestCheckpoint())?.size ?? 0;
  if (size <= newest) return null;
  throw new TallyError(
    'log_behind',
    `The witness ${witness.name} has cosigned ${size} leaves of this log, but only ${newest} are here. Restore the newest data.`,
  );
}

const forked = (witness: WitnessConfig): TallyError =>
  new TallyError(
    'log_corrupted',
    `The witness ${witness.name} has cosigned another tree of this log than the one here.`,
  );
