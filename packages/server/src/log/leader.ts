import { randomUUID } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import type { LogStore } from '../store/log-store.ts';
import type { Gate } from './gate.ts';
import { integrate } from './integrator.ts';
import type { LogSigner } from './log-key.ts';
import { repeat } from './repeat.ts';

/** Seconds until another process may take a lease that was not renewed. */
const LEASE_TTL = 5;
const RENEW_MS = 1_000;
const INTEGRATE_MS = 200;

/** What a leader does beside integrating, one step at a time; `step` rejects freely, and is called again. */
export interface Duty {
  /** @param epoch the lease's: all writes must name it */
  step(epoch: number): Promise<void>;
}

export type LeaderPart = 'lease' | 'integrate' | 'post' | 'cosign';

/** What the leader counts. */
export interface LogMetrics {
  /** A checkpoint was published. @param seconds since integrating began */
  published(size: number, seconds: number): void;
  failed(part: LeaderPart): void;
}

export interface LeaderOptions {
  readonly store: LogStore;
  readonly log: LogSigner;
  readonly gate: Gate;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: LogMetrics;
}

/**
 * One process at a time leads: it integrates, signs, posts and has the witnesses cosign. The lease only spares the
 * others the work; what keeps the log from forking is that every write names the lease's epoch.
 *
 * Nothing is done before the gate is open or after it has shut. A fault that the leader finds shuts the gate and ends
 * the lease; any other failure is logged once, counted, and tried again.
 */
export class Leader {
  readonly #options: LeaderOptions;
  readonly #holder = randomUUID();
  #lease: { readonly epoch: number; readonly until: number } | null = null;
  #signedSize = 0;
  #integrating: Promise<void> | undefined;
  /** What each part failed with last; logged once, however often it is tried. */
  readonly #troubles = new Map<LeaderPart, string>();
  #stops: (() => Promise<void>)[] = [];

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
      repeat(RENEW_MS, () => this.renew()),
      repeat(INTEGRATE_MS, () => this.integrate().catch(() => {})),
      ...(anchorer === null ? [] : [repeat(postMs, () => this.perform('post', anchorer))]),
      ...(cosigner === null ? [] : [repeat(RENEW_MS, () => this.perform('cosign', cosigner))]),
    ];
  }

  /** Takes or renews the lease; lets go of it once the gate has shut. Never rejects. */
  async renew(): Promise<void> {
    const { store, gate, clock, logger } = this.#options;
    const before = this.epoch;
    try {
      if (gate.fault !== null) return this.#lease === null ? undefined : await this.#resign();
      await gate.pass();
      const asked = clock();
      const lease = await store.acquireLease(this.#holder, LEASE_TTL);
      this.#lease = lease === null ? null : { epoch: lease.epoch, until: asked + LEASE_TTL * 1000 };
      this.#troubles.delete('lease');
    } catch (error) {
      this.#failed('lease', error);
    }
    const after = this.epoch;
    if (before !== after)
      logger.info({ epoch: after }, after === null ? 'does not lead the log' : 'leads the log');
  }

  /**
   * Puts all leaves that are accepted by now under signed checkpoints, if this process leads. Calls at the same time
   * share one run. Rejects with what went wrong, once it is logged.
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
    // A run under way may have counted the leaves before the newest ones.
    if (this.#signedSize < size) await this.#integrating;
    if (this.#signedSize < size) await this.integrate();
    if (this.#signedSize >= size) return;
    throw new TallyError(
      'unavailable',
      `No checkpoint of ${size} leaves could be signed: another process leads.`,
    );
  }

  /** One step of a duty, if this process leads. Never rejects. */
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

  /** Stops leading and lets another process lead at once. */
  async close(): Promise<void> {
    const [renewing, ...others] = this.#stops.map((stop) => stop());
    await renewing;
    await this.#resign().catch((error: unknown) => this.#failed('lease', error));
    await Promise.all(others);
  }

  async #resign(): Promise<void> {
    this.#lease = null;
    await this.#options.store.releaseLease(this.#holder);
  }

  async #integrateAccepted(): Promise<void> {
    const { store, log, clock, metrics } = this.#options;
    const { epoch } = this;
    if (epoch === null) return;
    const accepted = await store.countLeaves();
    const began = clock();
    for (;;) {
      const outcome = await integrate(store, log, epoch, () => this.epoch === epoch);
      if (outcome.kind === 'fenced') {
        if (this.#lease?.epoch === epoch) this.#lease = null;
        return;
      }
      this.#signedSize = outcome.kind === 'idle' ? outcome.size : outcome.checkpoint.size;
      if (outcome.kind === 'signed') metrics.published(this.#signedSize, (clock() - began) / 1000);
      if (this.#signedSize >= accepted) return;
    }
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
