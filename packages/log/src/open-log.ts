import type { Chain } from '@tallystick/chain';
import { formatTlogProof, type Signer, TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import type { AnchorLog, LogStatus } from './anchor-log.ts';
import { provenPath, Results } from './anchored-result.ts';
import { type Anchorer, checkNotBehind, createAnchorer } from './anchorer.ts';
import { type Cosigner, createCosigner } from './cosigner.ts';
import { claimLog } from './identity.ts';
import { Leader, type LogMetrics } from './leader.ts';
import type { LogSigner } from './log-key.ts';
import { LogReadiness } from './log-readiness.ts';
import type { Leaf, LogStore } from './log-store.ts';
import { publicTile } from './public-tiles.ts';
import { LogFiles } from './storage/log-files.ts';
import type { ObjectStorage } from './storage/object-storage.ts';
import { TreeReader } from './tree-reader.ts';
import { storeTiles } from './tree-source.ts';
import type { WitnessConfig } from './witness-client.ts';

export interface AnchorLogOptions {
  readonly store: LogStore;
  /** The active signer of the purpose `log`. */
  readonly signer: () => Signer;
  /** The public URL without its scheme. */
  readonly origin: string;
  /** False where the origin was derived from the address: a stored log then keeps its own origin. */
  readonly originIsExplicit: boolean;
  /** Null where nothing is posted to a chain. */
  readonly chain: Chain | null;
  readonly chainId: number;
  /** The `<network>` part of anchor references. */
  readonly network: string;
  /** Seconds between scheduled postings. */
  readonly period: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: LogMetrics;
  readonly witnesses: readonly WitnessConfig[];
  readonly fetch: typeof globalThis.fetch;
  /** Where tiles, bundles and checkpoints are stored as files; null where the database alone has them. */
  readonly storage: ObjectStorage | null;
}

/** Seconds after which a transaction that is in no block is sent again at a higher price. */
const PATIENCE = 60;

/** Periods shorter than this, in seconds, mean a development chain, whose blocks come at once. */
const SHORT_PERIOD = 60;

/**
 * Opens the log and starts its timers. Where the chain or the storage can't be reached it opens all the same, and accepts
 * and signs nothing until both were asked.
 * @throws log_mismatch when the data are of a log with another origin, key or chain
 * @throws log_behind, log_corrupted when the chain, a witness or the storage has a newer or another tree; chain_mismatch
 */
export async function openAnchorLog(options: AnchorLogOptions): Promise<AnchorLog> {
  const { store, signer, origin, originIsExplicit, chain, chainId } = options;
  const { publicKey } = signer();
  if (chain !== null && (await store.identity()) === null) await refuseWrongChain(chain);
  const own = await claimLog(store, { origin, originIsExplicit, publicKey, chainId });
  // Stored before any witness is asked, so that no cosignature is stored without its key.
  await store.rememberWitnesses(options.witnesses);
  const parts = assemble(options, { ...own, signer });
  try {
    await parts.gate.pass();
  } catch (error) {
    if (parts.gate.fault !== null) throw error;
    options.logger.warn({ err: error }, 'the log is not accepting hashes yet');
  }
  await parts.leader.renew();
  const short = options.period < SHORT_PERIOD;
  parts.leader.start(parts.anchorer, parts.cosigner, short ? 200 : 1_000);
  return anchorLog(options, own.origin, parts);
}

/** Asked before the chain id is stored, after which the database belongs to that chain. @throws chain_mismatch */
async function refuseWrongChain(chain: Chain): Promise<void> {
  try {
    await chain.check();
  } catch (error) {
    if (error instanceof TallyError && error.code === 'chain_mismatch') throw error;
    // A chain that can't be reached is asked again by the start check.
  }
}

export interface LogParts {
  readonly gate: LogReadiness;
  readonly leader: Leader;
  readonly tree: TreeReader;
  readonly anchorer: Anchorer | null;
  readonly cosigner: Cosigner | null;
  readonly files: LogFiles | null;
}

/** Connects the parts of a log whose identity is claimed. No timer runs yet. */
export function assemble(options: AnchorLogOptions, log: LogSigner): LogParts {
  const { store, chain, period, clock, logger, witnesses, storage } = options;
  const { origin } = log;
  const tree = new TreeReader(storeTiles(store));
  const cosigner = witnesses.length === 0 ? null : createCosigner({ ...options, log, tree });
  const files = storage === null ? null : new LogFiles({ store, storage, log, clock, logger });
  const gate = new LogReadiness(async () => {
    await files?.checkNotBehind();
    if (chain !== null) {
      await chain.check();
      await checkNotBehind(store, chain);
    }
    await cosigner?.checkNotBehind();
  });
  const leader = new Leader({ ...options, log, files, gate });
  const integrateTo = (size: number): Promise<void> => leader.integrated(size);
  const short = period < SHORT_PERIOD;
  const pace = { patience: short ? period : PATIENCE, poll: short ? 0.2 : 2 };
  const anchorer =
    chain === null
      ? null
      : createAnchorer({
          log: store,
          chain,
          origin,
          clock,
          period,
          ...pace,
          integrateTo,
          cosigned: cosigner === null ? undefined : (epoch) => cosigner.newest(epoch),
          logger,
        });
  return { gate, leader, tree, anchorer, cosigner, files };
}

/** The log as routes use it. */
export function anchorLog(options: AnchorLogOptions, origin: string, parts: LogParts): AnchorLog {
  const { store, clock, period, network } = options;
  const { gate, leader, tree, anchorer, files } = parts;
  const results = new Results(store, tree, network);
  const nextPostingAt = (): number => (Math.floor(clock() / 1000 / period) + 1) * period;

  async function leafAt(index: number): Promise<Leaf> {
    const leaf = await store.getLeaf(index);
    if (leaf !== null) return leaf;
    throw new TallyError('anchor_not_found', `The log has accepted no leaf ${index}.`);
  }

  async function lateness(
    anchoredSize: number,
  ): Promise<Pick<LogStatus, 'overdueSeconds' | 'oldestUnanchoredSeconds'>> {
    const oldest = await store.getLeaf(anchoredSize);
    if (oldest === null) return { overdueSeconds: 0, oldestUnanchoredSeconds: 0 };
    const late = Math.floor(clock() / 1000) - oldest.batchAt;
    return { overdueSeconds: Math.max(0, late), oldestUnanchoredSeconds: Math.max(0, late + period) };
  }

  return {
    origin,
    async accept(hashes, quota, list = {}) {
      if (!gate.isOpen) {
        throw new TallyError(
          'anchor_unavailable',
          `The log is not accepting hashes at the moment: ${gate.reason}. Try again later.`,
        );
      }
      const outcome = await store.accept({ hashes, batchAt: nextPostingAt(), quota, ...list });
      if (outcome.kind === 'over_quota') return outcome;
      const { leaves, ...counted } = outcome;
      return { ...counted, results: await results.ofAll(leaves, clock()) };
    },
    async find(hash) {
      const leaf = await store.findLeaf(hash);
      if (leaf !== null) return leaf;
      throw new TallyError('anchor_not_found', 'The log has not accepted this hash.');
    },
    leaf: leafAt,
    resolve: (leaf) => results.of(leaf, clock()),
    async anchored(hashes, size) {
      const indexes = await store.indexesOf(hashes);
      return results.anchored(
        hashes.map((hash, position) => ({ hash, index: indexes[position] ?? Number.POSITIVE_INFINITY })),
        size,
      );
    },
    async tlogProof(leaf) {
      const { index } = leaf;
      const checkpoint = await store.newestCheckpoint();
      if (checkpoint === null || checkpoint.size <= index) {
        throw new TallyError(
          'anchor_not_found',
          `No checkpoint holds leaf ${index} yet. Try again in a second.`,
        );
      }
      const path = await provenPath(tree, leaf, checkpoint);
      return formatTlogProof({ index, path, checkpoint: checkpoint.note });
    },
    async consistency(from, to) {
      const size = (await store.newestCheckpoint())?.size ?? 0;
      if (to <= size) return tree.consistencyProof(from, to);
      throw new TallyError('merkle_range', `The newest checkpoint has ${size} leaves, not ${to}.`);
    },
    async checkpoint() {
      return (await files?.checkpoint()) ?? (await store.newestCheckpoint())?.note ?? null;
    },
    tile: (path) => publicTile(store, files, path),
    async status() {
      const anchoredSize = await results.anchoredSize();
      return {
        origin,
        accepted: await store.countLeaves(),
        treeSize: (await store.newestCheckpoint())?.size ?? 0,
        anchoredSize,
        nextPostingAt: nextPostingAt(),
        ...(await lateness(anchoredSize)),
        accepting: gate.reason,
        posting: anchorer?.problem() ?? 'ok',
        leading: leader.epoch !== null,
      };
    },
    async ready() {
      return gate.fault?.message ?? 'ok';
    },
    resign: () => leader.resign(),
    close: () => leader.close(),
  };
}
