import { randomUUID } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import { runEvery } from '@tallystick/kit';
import type { Logger } from 'pino';
import { integrate } from './integrator.ts';
import type { LogSigner } from './log-key.ts';
import type { LogReadiness } from './log-readiness.ts';
import type { LogStore } from './log-store.ts';
import { NewestSeen } from './newest-seen.ts';
import type { LogFiles } from './storage/log-files.ts';

/** Seconds until another process may take a lease that was not renewed. */
const LEASE_TTL = 5;
const RENEW_MS = 1_000;
const INTEGRATE_MS = 200;
/** Milliseconds without progress after which a leader no longer renews its lease, and after which it gives the lease up. */
const LATE_MS = 2_000;
const STALLED_MS = 4_000;
/** Milliseconds for which a leader that gave up its lease does not take it again, so that others can. */
const REST_MS = 3_000;

/** Work that a leader does beside integrating, one step at a time. `step` may reject; it is called again. */
export interface Duty {
  /** Does one step. @param epoch of the lease: every write must name it */
  step(epoch: number): Promise<void>;
}

export type LeaderPart = 'lease' | 'integrate' | 'post' | 'cosign';

/** Counts what the leader does. */
export interface LogMetrics {
  /** Counts a published checkpoint. @param seconds since integrating began */
  published(size: number, seconds: number): void;
  failed(part: LeaderPart): void;
}

export interface LeaderOptions {
  readonly store: LogStore;
  readonly log: LogSigner;
  /** Null where the log is in the database alone. */
  readonly files: LogFiles | null;
  readonly gate: LogReadiness;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: LogMetrics;
}

/**
 * Lets one process at a time lead: it integrates, signs, posts and has the witnesses cosign. The lease only saves the
 * others the work; the log cannot fork because every write names the lease's epoch. Nothing is done until the start
 * check has passed, or after a fault, such as a database that has lost what was signed. A fault that the leader finds stops the log and ends the lease; any other failure
 * is logged once, counted, and tried again. The lease is renewed only while integrating makes progress. A renewal takes
 * one statement on any live connection; if it went on while integrating hangs or fails, no other process could take
 * over.
 */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #holder = randomUUID();
  readonly #seen = new NewestSeen();
  #lease: { readonly epoch: number; readonly until: number } | null = null;
  #signedSize = 0;
  /** When integrating last made progress, or this process took the lease, in Unix milliseconds. */
  #progressAt = 0;
  /** Size of the largest tree that integrating has reached since then, stored or not. */
  #reachedSize = 0;
  #restUntil = 0;
  #closed = false;
  #integrating: Promise<void> | undefined;
  /** The last failure of each part, so that a repeated one is logged once. */
  readonly #troubles = new Map<LeaderPart, string>();
  #stops: (() => Promise<void>)[] = [];
  /** Set when the timers are stopped; resolves when the steps that they had begun are done. */
  #ended: Promise<unknown> | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  /** The epoch while this process leads, else null. */
  get epoch(): number | null {
    const { gate, clock } = this.#options;
    if (this.#lease === null || !gate.isOpen || clock() >= this.#lease.until) return null;
    return this.#lease.epoch;
  }

  /** Starts the timers. @param postMs how often the anchorer is called */
  start(anchorer: Duty | null, cosigner: Duty | null, postMs: number): void {
    this.#stops = [
      runEvery(RENEW_MS, () => this.renew()),
      runEvery(INTEGRATE_MS, () => this.integrate().catch(() => {})),
      ...(anchorer === null ? [] : [runEvery(postMs, () => this.perform('post', anchorer))]),
      ...(cosigner === null ? [] : [runEvery(RENEW_MS, () => this.perform('cosign', cosigner))]),
    ];
  }

  /**
   * Takes the lease, renews it while integrating makes progress, and gives it up otherwise or once the log has stopped
   * for a fault. Never rejects.
   */
  async renew(): Promise<void> {
    const { gate, logger } = this.#options;
    const before = this.epoch;
    try {
      if (gate.fault !== null) return this.#lease === null ? undefined : await this.#resign();
      if (before === null) await this.#take();
      else await this.#keep();
    } catch (error) {
      this.#failed('lease', error);
    }
    const after = this.epoch;
    if (before !== after)
      logger.info({ epoch: after }, after === null ? 'does not lead the log' : 'leads the log');
  }

  async #take(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock();
    // A step of an earlier lease that still hangs would keep this lease from making progress too.
    if (this.#integrating !== undefined || now < this.#restUntil) return;
    // Also while another process leads: this one may lead next, and must know what that one has signed.
    this.#seen.require(await store.newestCheckpoint());
    this.#progressAt = now;
    this.#reachedSize = 0;
    await this.#acquire();
  }

  async #keep(): Promise<void> {
    const { clock } = this.#options;
    const idle = clock() - this.#progressAt;
    if (idle < LATE_MS) return this.#acquire();
    if (idle < STALLED_MS) return;
    this.#restUntil = clock() + REST_MS;
    this.#failed(
      'lease',
      new Error('Integrating made no progress, so this process gives up leading the log.'),
    );
    await this.#resign();
  }

  async #acquire(): Promise<void> {
    const { store, gate, clock } = this.#options;
    await gate.pass();
    const requestedAt = clock();
    const lease = await store.acquireLease(this.#holder, LEASE_TTL);
    this.#lease = lease === null ? null : { epoch: lease.epoch, until: requestedAt + LEASE_TTL * 1000 };
    this.#troubles.delete('lease');
    if (this.#closed) await this.#resign();
  }

  /**
   * Integrates and signs all leaves that are accepted by now, if this process leads. Concurrent calls share one run.
   * Rejects with the failure, which is logged first.
   */
  integrate(): Promise<void> {
    this.#integrating ??= this.#integrateAccepted()
      .then(() => void this.#troubles.delete('integrate'))
      .catch((error: unknown) => {
        this.#failed('integrate', error);
        throw error;
      })
      .finally(() => {
        this.#integrating = undefined;
      });
    return this.#integrating;
  }

  /** Resolves when a signed checkpoint covers the first `size` leaves, which must be accepted. @throws unavailable */
  async integrated(size: number): Promise<void> {
    // The run under way may have started before the newest leaves were accepted.
    if (this.#signedSize < size) await this.#integrating;
    if (this.#signedSize < size) await this.integrate();
    if (this.#signedSize >= size) return;
    throw new TallyError(
      'unavailable',
      `No checkpoint of ${size} leaves could be signed: another process leads.`,
    );
  }

  /** Runs one step of a duty if this process leads. Never rejects. */
  async perform(part: LeaderPart, duty: Duty): Promise<void> {
    const { epoch } = this;
    if (epoch === null) return;
    try {
      await duty.step(epoch);
      this.#troubles.delete(part);
    } catch (error) {
      this.#failed(part, error);
    }
  }

  /** Stops leading for good, and lets another process lead at once. Never rejects. */
  async resign(): Promise<void> {
    this.#closed = true;
    this.#ended ??= Promise.all(this.#stops.map((stop) => stop()));
    await this.#resign().catch((error: unknown) => this.#failed('lease', error));
  }

  /** Resigns as `resign` does, then waits for the steps that are under way. */
  async close(): Promise<void> {
    await this.resign();
    await this.#ended;
  }

  async #resign(): Promise<void> {
    this.#lease = null;
    await this.#options.store.releaseLease(this.#holder);
  }

  async #integrateAccepted(): Promise<void> {
    const { store, clock, metrics } = this.#options;
    const { epoch } = this;
    if (epoch === null) return;
    const accepted = await store.countLeaves();
    const began = clock();
    for (;;) {
      const options = { ...this.#options, seen: this.#seen };
      const outcome = await integrate(options, epoch, (size) => this.#leads(epoch, size));
      if (outcome.kind === 'fenced') {
        if (this.#lease?.epoch === epoch) this.#lease = null;
        return;
      }
      this.#signedSize = outcome.kind === 'idle' ? outcome.size : outcome.checkpoint.size;
      this.#progressAt = clock();
      if (outcome.kind === 'signed') {
        this.#seen.require(outcome.checkpoint);
        metrics.published(this.#signedSize, (clock() - began) / 1000);
      }
      if (this.#signedSize >= accepted) return;
    }
  }

  /** A step makes progress only with leaves that no earlier try had hashed. */
  #leads(epoch: number, size: number): boolean {
    if (size > this.#reachedSize) {
      this.#reachedSize = size;
      this.#progressAt = this.#options.clock();
    }
    return this.epoch === epoch;
  }

  #failed(part: LeaderPart, error: unknown): void {
    const { gate, logger, metrics } = this.#options;
    metrics.failed(part);
    const trouble = error instanceof Error ? error.message : String(error);
    const known = this.#troubles.get(part) === trouble;
    this.#troubles.set(part, trouble);
    if (gate.report(error))
      logger.error({ err: error }, 'the log has stopped: nothing is accepted or signed');
    else if (!known) logger.warn({ err: error, part }, 'a step of the log failed, and will be tried again');
  }
}
