import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Order, Report, Snapshot, WorkerStart } from './messages.ts';
import { summed } from './summed-metrics.ts';

interface Measured {
  readonly registry: Registry;
  /** Brings the metrics that are read, not counted, up to date. */
  readonly measure: () => Promise<void>;
}

type OrderOf<Kind extends Order['order']> = Extract<Order, { order: Kind }>;

/** A worker's connection to the primary. The process ends when the primary does. */
export class PrimaryLink {
  readonly #waiting = new Map<number, (snapshots: readonly Snapshot[]) => void>();
  #asked = 0;
  #measured: Measured | null = null;
  /** Resolves when the primary wants this worker to end. */
  readonly ended: Promise<unknown>;
  readonly #opened: Promise<OrderOf<'open'>>;
  readonly #serving: Promise<unknown>;
  readonly #started: Promise<OrderOf<'start'>>;

  constructor() {
    this.#started = this.#once('start');
    this.#opened = this.#once('open');
    this.#serving = this.#once('serve');
    this.ended = this.#once('end');
    process.on('message', this.#onOrder);
    // What was said before somebody listened would be lost.
    this.#send({ report: 'hello' });
  }

  get started(): Promise<WorkerStart> {
    return this.#started;
  }

  /** Waits until the service may be opened. Resolves to the URL of the development chain, or null. */
  async opening(): Promise<string | null> {
    return (await this.#opened).rpcUrl;
  }

  /** Says that the service is open. Resolves when all workers are. */
  async ready(address: AddressInfo, notice: string, measured: Measured): Promise<void> {
    this.#measured = measured;
    this.#send({ report: 'ready', address, notice });
    await this.#serving;
  }

  /** The metrics of all workers, as one text. */
  async metrics(): Promise<string> {
    const id = (this.#asked += 1);
    const { promise, resolve } = Promise.withResolvers<readonly Snapshot[]>();
    this.#waiting.set(id, resolve);
    this.#send({ report: 'collect', id });
    return summed(await promise);
  }

  /** Lets the process end by itself. */
  close(): void {
    process.off('message', this.#onOrder);
    process.channel?.unref();
  }

  readonly #onOrder = (order: Order): void => {
    if (order.order === 'measure') void this.#measure(order.id);
    if (order.order !== 'collected') return;
    this.#waiting.get(order.id)?.(order.snapshots);
    this.#waiting.delete(order.id);
  };

  async #measure(id: number): Promise<void> {
    if (this.#measured === null) return;
    const { registry, measure } = this.#measured;
    await measure();
    this.#send({ report: 'measured', id, snapshot: await registry.getMetricsAsJSON() });
  }

  #once<Kind extends Order['order']>(kind: Kind): Promise<OrderOf<Kind>> {
    const { promise, resolve } = Promise.withResolvers<OrderOf<Kind>>();
    const onOrder = (order: Order): void => {
      if (order.order !== kind) return;
      process.off('message', onOrder);
      resolve(order as OrderOf<Kind>);
    };
    process.on('message', onOrder);
    return promise;
  }

  /** A primary that has ended hears nothing, and this process ends with it. */
  #send(report: Report): void {
    process.send?.(report, undefined, {}, () => undefined);
  }
}
