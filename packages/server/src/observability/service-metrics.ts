import { statfs } from 'node:fs/promises';
import type { StoreObserver } from '@tallystick/store';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** How much waits in each queue of this process, by name. */
type Queues = () => Readonly<Record<string, number>>;

/** What a process looks at when its metrics are read. */
export interface ServiceSources {
  readonly queues: Queues;
  /** What `/readyz` says: by check, `ok` or what is wrong. */
  readonly ready: () => Promise<Readonly<Record<string, string>>>;
  /** When the newest trust bundle expires, in Unix milliseconds; null before the first. */
  readonly trustExpiry: () => number | null;
  /** Folder whose file system must not fill up; null where the process writes to none. */
  readonly dataDir: string | null;
}

/** How long the store's transactions take, from the first one on. */
export function createStoreMetrics(
  registry: Registry,
): StoreObserver & { readonly unlisted: (receipts: number) => void } {
  const commits = new Histogram({
    name: 'store_commit_seconds',
    help: 'Time of a transaction that group-committed writes share, until it is durable, by queue.',
    labelNames: ['queue'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const unlisted = new Counter({
    name: 'receipts_unlisted_total',
    help: 'Receipts that too many waiting ones kept from the list of receipts for now; it gets them from the stored receipts.',
    registers: [registry],
  });
  return {
    committed: (queue, seconds) => commits.observe({ queue }, seconds),
    unlisted: (receipts) => unlisted.inc(receipts),
  };
}

/** Gauges of the whole process. Returns what brings them up to date. */
export function createServiceMetrics(
  registry: Registry,
  { queues, ready, trustExpiry, dataDir }: ServiceSources,
): () => Promise<void> {
  const registers = [registry];
  const depth = new Gauge({
    name: 'queue_depth',
    help: 'What waits in a queue of this process: writes, hashes, prompts to compress, receipts to verify.',
    labelNames: ['queue'],
    registers,
  });
  const readiness = new Gauge({
    name: 'service_ready',
    help: '1 for each check of /readyz that is ok, 0 for one that is not.',
    labelNames: ['check'],
    registers,
    aggregator: 'min',
  });
  const expiry = new Gauge({
    name: 'trust_bundle_expiry_timestamp_seconds',
    help: 'Unix time at which the newest trust bundle expires; 0 before the first.',
    registers,
    aggregator: 'max',
  });
  const disk = (name: string, help: string): Gauge => new Gauge({ name, help, registers, aggregator: 'max' });
  const space =
    dataDir === null
      ? null
      : {
          free: disk(
            'data_disk_free_bytes',
            'Free bytes for this process on the file system of the data directory.',
          ),
          size: disk('data_disk_size_bytes', 'Size of the file system of the data directory.'),
        };
  return async () => {
    for (const [queue, waiting] of Object.entries(queues())) depth.set({ queue }, waiting);
    for (const [check, state] of Object.entries(await ready()))
      readiness.set({ check }, state === 'ok' ? 1 : 0);
    expiry.set((trustExpiry() ?? 0) / 1000);
    if (space === null || dataDir === null) return;
    const { bavail, blocks, bsize } = await statfs(dataDir);
    space.free.set(bavail * bsize);
    space.size.set(blocks * bsize);
  };
}
