import type { Chain } from '@tallystick/chain';
import type { LogMetrics, LogStatus, PostingState } from '@tallystick/log';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The anchor log's metrics: those that it counts itself, and those that are read at intervals. */
export interface AnchorMetrics extends LogMetrics {
  /** Sets the metrics from the log's status. */
  status(status: LogStatus): void;
  /** Sets the state of the newest posting; null before the first. */
  posting(state: PostingState | null): void;
  /** Notes that the metrics from the database are up to date. */
  read(): void;
  /** Reads the posting account's balance from the chain. */
  wallet(chain: Pick<Chain, 'balance'>): Promise<void>;
}

const STATES = ['queued', 'broadcast', 'confirmed', 'finalized'] as const satisfies PostingState[];

export function createAnchorMetrics(registry: Registry): AnchorMetrics {
  const registers = [registry];
  // Of several workers the largest counts, since all read the same database.
  const gauge = (name: string, help: string, aggregator: 'max' | 'min' = 'max'): Gauge =>
    new Gauge({ name, help, registers, aggregator });
  const accepted = gauge('anchor_log_accepted_leaves', 'Hashes accepted into the log.');
  const treeSize = gauge('anchor_log_tree_size', 'Leaves covered by the newest signed checkpoint.');
  const anchoredSize = gauge(
    'anchor_log_anchored_size',
    'Leaves covered by a root that is final on the chain.',
  );
  const overdue = gauge(
    'anchor_log_overdue_seconds',
    'Seconds that the oldest unanchored hash has waited past its scheduled posting.',
  );
  const oldest = gauge(
    'anchor_log_oldest_unanchored_seconds',
    'Age of the oldest hash that is not anchored, rounded up to its period; 0 when all are anchored.',
  );
  let checkpointAt = performance.now();
  let checkpointSize = -1;
  const checkpointAge = gauge(
    'anchor_log_checkpoint_age_seconds',
    'Time since this process saw a new checkpoint, or since its start. It grows while no hash is accepted, too.',
    'min',
  );
  const sawCheckpoint = (size: number): void => {
    treeSize.set(size);
    if (size !== checkpointSize) checkpointAt = performance.now();
    checkpointSize = size;
  };
  Object.assign(checkpointAge, {
    collect: () => checkpointAge.set((performance.now() - checkpointAt) / 1000),
  });
  const leading = gauge('anchor_log_leading', '1 where this process leads the log.');
  const accepting = gauge('anchor_log_accepting', '1 where hashes are accepted.', 'min');
  const balance = gauge('anchor_wallet_ether', 'Balance of the posting account, in units of 1e18 wei.');
  // Without a chain there is no account, and no metric of it.
  balance.remove();
  let readAt = performance.now();
  const age = gauge(
    'database_gauges_age_seconds',
    'Age of the gauges that are read from the database; they keep their last value while it does not answer.',
  );
  Object.assign(age, { collect: () => age.set((performance.now() - readAt) / 1000) });
  const postings = new Gauge({
    name: 'anchor_posting_state',
    help: '1 for the state of the newest posting.',
    labelNames: ['state'],
    registers,
    aggregator: 'max',
  });
  const failures = new Counter({
    name: 'anchor_log_failures_total',
    help: 'Steps of the log that failed and will be retried.',
    labelNames: ['part'],
    registers,
  });
  const integrations = new Histogram({
    name: 'anchor_log_integration_seconds',
    help: 'Time from counting new leaves to the checkpoint that covers them.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  return {
    published: (size, seconds) => {
      sawCheckpoint(size);
      integrations.observe(seconds);
    },
    failed: (part) => failures.inc({ part }),
    status: (now) => {
      accepted.set(now.accepted);
      sawCheckpoint(now.treeSize);
      anchoredSize.set(now.anchoredSize);
      overdue.set(now.overdueSeconds);
      oldest.set(now.oldestUnanchoredSeconds);
      leading.set(now.leading ? 1 : 0);
      accepting.set(now.accepting === 'ok' ? 1 : 0);
    },
    posting: (newest) => {
      for (const state of STATES) postings.set({ state }, state === newest ? 1 : 0);
    },
    read: () => {
      readAt = performance.now();
    },
    wallet: async (chain) => balance.set(Number(await chain.balance()) / 1e18),
  };
}
