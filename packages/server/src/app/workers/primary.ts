import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { type Config, socketPathOf } from '../../config/config.ts';
import { createLogger } from '../../observability/observability.ts';
import { Closing } from '../closing.ts';
import { openChain, requireWritable, waitForDatabase } from '../opening.ts';
import type { Order, Report, Snapshot } from './messages.ts';
import { countedBy } from './summed-metrics.ts';

interface Member {
  readonly number: number;
  readonly process: Worker;
  readonly startedAt: number;
  ready: boolean;
  /** The newest metrics that are known of it. */
  snapshot: Snapshot;
}

/** What the first worker said when it was ready. */
interface Opened {
  readonly address: AddressInfo;
  readonly notice: string;
}

/** Milliseconds before a worker that has ended is replaced: doubled with each that ends soon. */
const PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** Milliseconds after which a worker counts as one that did not end soon. */
const SOUND_MS = 60_000;
/** Milliseconds that a reader of the metrics waits for a worker; then its last known ones count. */
const MEASURE_MS = 1_500;

/**
 * Serves with `config.workers` processes on one socket, until SIGTERM or SIGINT; SIGHUP has them reload. The first one
 * opens the service alone, so that keys and tables are made once; the others follow. Requests are served once all are
 * ready. A worker that ends after that is replaced.
 * @param announce gets what the first worker says when all are ready
 */
export async function leadWorkers(config: Config, announce: (opened: Opened) => void): Promise<void> {
  const closing = new Closing();
  const logger = createLogger(config.logLevel);
  const pool = new WorkerPool(config, logger, closing);
  const { code, failed } = await pool.run(announce);
  await closing.run();
  if (code !== 0 || failed) process.exit(failed ? code || 1 : code);
}

class WorkerPool {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #closing: Closing;
  readonly #members = new Map<number, Member>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #measuring = new Map<number, (snapshot: Snapshot) => void>();
  #asked = 0;
  /** Whether all were ready once. */
  #serving = false;
  #opened: Opened | null = null;
  #rpcUrl: string | null = null;
  #signals = 0;
  #ending = false;
  #failed = false;
  #code = 0;
  #restarts = 0;
  /** How often in succession a worker ended soon. */
  #soon = 0;
  /** What the workers that have ended had counted. */
  #past: Snapshot = [];
  #onReady: (opened: Opened) => void = () => undefined;

  constructor(config: Config, logger: Logger, closing: Closing) {
    this.#config = config;
    this.#logger = logger;
    this.#closing = closing;
  }

  /** Resolves when all workers have ended for good. `failed`: one could not start. */
  async run(announce: (opened: Opened) => void): Promise<{ code: number; failed: boolean }> {
    // Each worker accepts from the shared socket when it has time. Node’s other policy hands connections over, and one
    // that is on its way to a worker that dies is never answered.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.on('message', (worker, report: Report) => this.#hear(worker, report));
    cluster.on('exit', (worker, code, signal) => this.#lost(worker, code, signal));
    process.on('SIGTERM', this.#onEnd).on('SIGINT', this.#onEnd).on('SIGHUP', this.#onReload);
    this.#onReady = announce;
    try {
      void this.#startFirst().catch((error: unknown) => this.#ended.reject(error));
      await this.#ended.promise;
    } finally {
      for (const { process: child } of this.#members.values()) child.process.kill('SIGKILL');
      process.off('SIGTERM', this.#onEnd).off('SIGINT', this.#onEnd).off('SIGHUP', this.#onReload);
    }
    return { code: this.#code, failed: this.#failed };
  }

  async #startFirst(): Promise<void> {
    const first = this.#start(1);
    const path = socketPathOf(this.#config.host);
    // The socket is made in this process. Until the worker has set its mode, nobody else may connect.
    const umask = path === null ? null : process.umask(0o777 & ~this.#config.socketMode);
    const listening = Promise.withResolvers<void>();
    first.once('listening', () => listening.resolve()).once('exit', () => listening.resolve());
    await listening.promise;
    if (umask !== null) process.umask(umask);
    if (this.#config.chain.devnet) {
      requireWritable(this.#config);
      await waitForDatabase(this.#config, this.#logger);
      const { rpcUrl } = await openChain(this.#config, this.#logger, this.#closing);
      this.#rpcUrl = rpcUrl;
    }
    this.#tell(first, { order: 'open', rpcUrl: this.#rpcUrl });
  }

  #start(number: number): Worker {
    const child = cluster.fork();
    // An order to a worker that has ended fails, and its end is heard anyway.
    child.on('error', () => undefined);
    this.#members.set(child.id, {
      number,
      process: child,
      startedAt: performance.now(),
      ready: false,
      snapshot: [],
    });
    return child;
  }

  #greet({ number, process: child }: Member): void {
    const joins = this.#serving ? (this.#opened?.address ?? null) : null;
    const { listenFd } = this.#config;
    this.#tell(child, { order: 'start', number, restarts: this.#restarts, listenFd, joins });
    if (this.#opened !== null) this.#tell(child, { order: 'open', rpcUrl: this.#rpcUrl });
  }

  #hear(worker: Worker, report: Report): void {
    const member = this.#members.get(worker.id);
    if (member === undefined) return;
    if (report.report === 'hello') this.#greet(member);
    else if (report.report === 'measured') this.#measuring.get(report.id)?.(report.snapshot);
    else if (report.report === 'collect') void this.#answer(worker, report.id);
    else if (report.report === 'ready') this.#welcome(member, report);
  }

  #welcome(member: Member, { address, notice }: Opened): void {
    member.ready = true;
    if (this.#serving) return this.#tell(member.process, { order: 'serve' });
    if (this.#opened === null) {
      this.#opened = { address, notice };
      for (let number = 2; number <= this.#config.workers; number++) this.#start(number);
    }
    const members = [...this.#members.values()];
    if (members.length < this.#config.workers || members.some(({ ready }) => !ready)) return;
    this.#serving = true;
    for (const { process: child } of members) this.#tell(child, { order: 'serve' });
    this.#onReady(this.#opened);
  }

  #lost(worker: Worker, code: number | null, signal: string | null): void {
    const member = this.#members.get(worker.id);
    if (member === undefined) return;
    this.#members.delete(worker.id);
    if (this.#ending || !this.#serving) return this.#leave(code, signal);
    void this.#remember(member.snapshot);
    const age = performance.now() - member.startedAt;
    this.#soon = age < SOUND_MS ? this.#soon + 1 : 0;
    const pauseMs = Math.min(PAUSE_MS * 2 ** this.#soon, MAX_PAUSE_MS);
    this.#logger.error(
      { worker: member.number, code, signal, pauseMs },
      'a worker ended, and is started again',
    );
    this.#restarts += 1;
    setTimeout(() => this.#replace(member.number), pauseMs);
  }

  /** One that could not start ends all of them. */
  #leave(code: number | null, signal: string | null): void {
    if (!this.#ending) {
      this.#failed = true;
      this.#endAll();
    }
    // One that was still starting ends with the signal that it was sent.
    if (signal === null || this.#failed) this.#code = Math.max(this.#code, code ?? 1);
    if (this.#members.size === 0) this.#ended.resolve();
  }

  #replace(number: number): void {
    if (this.#ending) return;
    this.#start(number);
  }

  readonly #onEnd = (): void => {
    this.#signals += 1;
    if (this.#signals > 1) {
      for (const { process: child } of this.#members.values()) child.process.kill('SIGKILL');
      process.exit(1);
    }
    this.#endAll();
  };

  #endAll(): void {
    this.#ending = true;
    for (const { process: child, ready } of this.#members.values()) {
      if (ready) this.#tell(child, { order: 'end' });
      else child.process.kill('SIGTERM');
    }
    if (this.#members.size === 0) this.#ended.resolve();
  }

  /** Before it is ready, a worker has nothing to reload, and might not hear the signal yet. */
  readonly #onReload = (): void => {
    for (const { process: child, ready } of this.#members.values()) if (ready) child.process.kill('SIGHUP');
  };

  async #answer(worker: Worker, id: number): Promise<void> {
    const ready = [...this.#members.values()].filter((member) => member.ready);
    await Promise.all(ready.map((member) => this.#measure(member)));
    const snapshots = [this.#past, ...ready.map(({ snapshot }) => snapshot)];
    this.#tell(worker, { order: 'collected', id, snapshots });
  }

  async #measure(member: Member): Promise<void> {
    const id = (this.#asked += 1);
    const { promise, resolve } = Promise.withResolvers<Snapshot>();
    this.#measuring.set(id, resolve);
    this.#tell(member.process, { order: 'measure', id });
    const timer = setTimeout(() => resolve(member.snapshot), MEASURE_MS);
    member.snapshot = await promise;
    clearTimeout(timer);
    this.#measuring.delete(id);
  }

  async #remember(snapshot: Snapshot): Promise<void> {
    this.#past = await countedBy([this.#past, snapshot]);
  }

  #tell(worker: Worker, order: Order): void {
    if (worker.isConnected()) worker.send(order);
  }
}
