import type { AddressInfo } from 'node:net';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of one process, as `Registry.getMetricsAsJSON` gives them. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What the primary tells a worker first. */
export interface WorkerStart {
  /** From 1 on; a worker that replaces another has the number of that one. */
  readonly number: number;
  /** How many workers had to be replaced until now. */
  readonly restarts: number;
  /** `Config.listenFd` of the primary: the descriptor is open there. */
  readonly listenFd: number | null;
  /** Address at which others listen already; null for a worker that is there from the start. */
  readonly joins: AddressInfo | null;
}

/** From the primary to a worker. */
export type Order =
  | ({ readonly order: 'start' } & WorkerStart)
  /** The worker may open the service. */
  | { readonly order: 'open'; readonly rpcUrl: string | null }
  /** All workers are ready. */
  | { readonly order: 'serve' }
  /** Drain, and end. */
  | { readonly order: 'end' }
  | { readonly order: 'measure'; readonly id: number }
  /** The answer to `collect`. */
  | { readonly order: 'collected'; readonly id: number; readonly snapshots: readonly Snapshot[] };

/** From a worker to the primary. */
export type Report =
  /** Hears orders from now on. */
  | { readonly report: 'hello' }
  /** The service is open, and waits for `serve`. */
  | { readonly report: 'ready'; readonly address: AddressInfo; readonly notice: string }
  /** The answer to `measure`. */
  | { readonly report: 'measured'; readonly id: number; readonly snapshot: Snapshot }
  /** Asks for the metrics of all workers. */
  | { readonly report: 'collect'; readonly id: number };
