import { formatTimestamp, VERSION } from '@tallystick/core';
import type { Operations } from '@tallystick/kit';
import { formatUsdc } from '@tallystick/ledger';
import type { Services } from '../services.ts';
import { logDocument } from './log.ts';
import { modelsDocument } from './models.ts';

type OverviewServices = Pick<
  Services,
  'clock' | 'compute' | 'config' | 'issuer' | 'lease' | 'log' | 'queues' | 'ready' | 'startedAt' | 'store'
>;

const MOST_REFUNDS = 100;
const NANO_PER_UNIT = 1_000n;

/** Everything that the operator's page shows: the state of the service, and nothing of what callers send or get. */
export async function overview(services: OverviewServices) {
  const { clock, compute, config, issuer, lease, queues, ready, startedAt, store } = services;
  const now = clock();
  const [checks, found, webhooks] = await Promise.all([
    ready(),
    store.operations.look(MOST_REFUNDS),
    store.webhooks.count(now),
  ]);
  const [models, log] = await Promise.all([
    modelsDocument(compute, store, now),
    logDocument(services, found),
  ]);
  const isReady = Object.values(checks).every((state) => state === 'ok');
  return {
    at: formatTimestamp(now),
    service: {
      did: issuer.did,
      mode: config.mode,
      version: VERSION,
      schema_version: found.schemaVersion,
      database: config.database.kind,
      process: lease.id,
      processes: found.processes,
      started_at: formatTimestamp(startedAt),
      uptime_seconds: Math.floor((now - startedAt) / 1_000),
    },
    health: { status: isReady ? ('ok' as const) : ('unavailable' as const), checks },
    queues: [
      ...Object.entries(queues()).map(([name, waiting]) => queue(name, waiting, 'process')),
      queue('unanchored', log.accepted - log.anchored, 'service'),
      queue('postings', total(found.postings), 'service'),
      queue('webhooks', webhooks.waiting, 'service', webhooks.due),
      queue('refunds', found.payouts['refund'] ?? 0, 'service'),
      queue('withdrawals', found.payouts['withdrawal'] ?? 0, 'service'),
    ],
    ...models,
    refunds: found.refunds.map(refundOf),
    webhooks,
    log,
  };
}

const queue = (name: string, waiting: number, scope: 'process' | 'service', due: number | null = null) => ({
  name,
  scope,
  waiting,
  due,
});

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function refundOf({ amount, createdAt, ...rest }: Operations['refunds'][number]) {
  return {
    ...rest,
    amount_usdc: formatUsdc(BigInt(amount) * NANO_PER_UNIT),
    requested_at: formatTimestamp(createdAt * 1_000),
  };
}
