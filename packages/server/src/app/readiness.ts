import { randomUUID } from 'node:crypto';
import { runEvery } from '@tallystick/kit';
import type { AnchorLog, LogStatus } from '@tallystick/log';
import type { Store } from '@tallystick/store';

export interface ReadinessDependencies {
  readonly store: Pick<Store, 'consume'>;
  readonly log: Pick<AnchorLog, 'status' | 'ready'>;
  /** Seconds between scheduled postings; null where nothing is posted. */
  readonly period: number | null;
  /** `ok`, or what is wrong with the development chain of this process. */
  readonly chain: () => string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Milliseconds between two checks. */
const BEAT_MS = 2_000;
/** Milliseconds after which the last successful check says nothing about the present. */
const FRESH_MS = 6_000;
/**
 * Milliseconds for which the log's head may stand still while accepted hashes wait: longer than another process takes
 * to become leader.
 */
const STILL_MS = 8_000;
/** Seconds that a posting may be late at least, and the number of periods that it may be late. */
const SLACK_SECONDS = 120;
const SLACK_PERIODS = 2;

const COUNTER_SECONDS = 3_600;
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/**
 * Whether the service can do its work, by what it did lately: a committed write, a log that was read and whose head
 * moves, postings in time. All of it is checked every two seconds and answered from memory, so that the answer comes at
 * once even while the database hangs, and is at most ten seconds old.
 */
export class Readiness {
  readonly #dependencies: ReadinessDependencies;
  readonly #name = `ready:${randomUUID()}`;
  readonly #write = new Beat(() => this.#commit());
  readonly #look = new Beat(() => this.#readLog());
  #status: LogStatus | null = null;
  /** When the log's head last moved, or had nothing to cover. */
  #movedAt = performance.now();
  #stops: (() => Promise<void>)[] = [];

  constructor(dependencies: ReadinessDependencies) {
    this.#dependencies = dependencies;
  }

  /** Checks once, then every two seconds until `close`. */
  async start(): Promise<void> {
    const beats = [this.#write, this.#look];
    await Promise.all(beats.map((beat) => beat.run()));
    this.#stops = beats.map((beat) => runEvery(BEAT_MS, () => beat.run()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  /** The state of each part: `ok`, or what is wrong. */
  async checks(): Promise<{ store: string; log: string; posting: string; chain: string }> {
    return {
      store: this.#write.problem('No write has been committed') ?? 'ok',
      log: await this.#logProblem(),
      posting: this.#postingProblem(),
      chain: this.#dependencies.chain(),
    };
  }

  /** Writes by the same group commit as receipts, into a row that is deleted within hours. */
  async #commit(): Promise<void> {
    const hour = Math.floor(this.#dependencies.clock() / 1000 / COUNTER_SECONDS);
    await this.#dependencies.store.consume(`${this.#name}:${hour}`, UNLIMITED, (hour + 2) * COUNTER_SECONDS);
  }

  async #readLog(): Promise<void> {
    const status = await this.#dependencies.log.status();
    const { accepted, treeSize } = status;
    if (treeSize >= accepted || treeSize !== this.#status?.treeSize) this.#movedAt = performance.now();
    this.#status = status;
  }

  async #logProblem(): Promise<string> {
    const fault = await this.#dependencies.log.ready();
    if (fault !== 'ok') return fault;
    const unread = this.#look.problem('The log has not been read');
    if (unread !== null) return unread;
    const still = performance.now() - this.#movedAt;
    if (still < STILL_MS) return 'ok';
    return `No checkpoint covers the newest hashes, and none has been signed for ${secondsOf(still)} s.`;
  }

  #postingProblem(): string {
    const { period } = this.#dependencies;
    if (period === null || this.#status === null) return 'ok';
    const { overdueSeconds } = this.#status;
    if (overdueSeconds <= Math.max(SLACK_PERIODS * period, SLACK_SECONDS)) return 'ok';
    return `A posting is overdue by ${overdueSeconds} s.`;
  }
}

/** A repeated check, and when it last succeeded. */
class Beat {
  readonly #work: () => Promise<void>;
  #doneAt = performance.now();
  #failed = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#work();
      this.#doneAt = performance.now();
      this.#failed = false;
    } catch {
      this.#failed = true;
    }
  }

  /** Null, or what has not succeeded for how long. @param what begins the sentence */
  problem(what: string): string | null {
    const age = performance.now() - this.#doneAt;
    return this.#failed || age > FRESH_MS ? `${what} for ${secondsOf(age)} s.` : null;
  }
}

const secondsOf = (ms: number): number => Math.ceil(ms / 1000);
