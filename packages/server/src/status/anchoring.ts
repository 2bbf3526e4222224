import { type StatusLog, toHex } from '@tallystick/core';
import type { AnchorLog, LogStatus, LogStore } from '@tallystick/log';

export interface AnchoringDependencies {
  readonly log: Pick<AnchorLog, 'origin' | 'status' | 'leaf'>;
  readonly store: { readonly log: Pick<LogStore, 'newestCheckpoint'> };
  /** Seconds between scheduled postings. */
  readonly period: number;
}

/** How the log is, for the status, and as the log itself reports. */
export interface Anchoring {
  readonly report: StatusLog;
  readonly status: LogStatus;
}

/** Minutes for which readings are kept: a day. */
const MAX_LOOKS = 1_440;

/** The number of accepted leaves at a time, in Unix seconds. */
interface AnchoringReading {
  readonly accepted: number;
  readonly at: number;
}

/**
 * Measures how long leaves wait to be anchored. A leaf does not say when it was accepted, only when it is to be posted,
 * at most a period later. So its wait is counted from the newest reading without it, or from its schedule, whichever is
 * later.
 */
export class AnchoringWatch {
  readonly #dependencies: AnchoringDependencies;
  #looks: AnchoringReading[] = [];

  constructor(dependencies: AnchoringDependencies) {
    this.#dependencies = dependencies;
  }

  /** @param now Unix milliseconds */
  async read(now: number): Promise<Anchoring> {
    const { log, store } = this.#dependencies;
    const status = await log.status();
    const checkpoint = await store.log.newestCheckpoint();
    const seconds = Math.floor(now / 1000);
    const { accepted, anchoredSize } = status;
    const age = anchoredSize < accepted ? await this.#ageOf(anchoredSize, seconds) : null;
    this.#remember({ accepted, at: seconds }, anchoredSize);
    return {
      status,
      report: {
        checkpoint: checkpoint && {
          origin: log.origin,
          size: checkpoint.size,
          root: toHex(checkpoint.root),
        },
        accepted,
        anchored: anchoredSize,
        oldest_unanchored_seconds: age,
      },
    };
  }

  async #ageOf(index: number, now: number): Promise<number> {
    const { batchAt } = await this.#dependencies.log.leaf(index);
    const lastWithout = this.#looks.findLast(({ accepted }) => accepted <= index)?.at ?? 0;
    return Math.max(0, now - Math.max(batchAt - this.#dependencies.period, lastWithout));
  }

  /** Of the readings before the oldest waiting leaf, only the newest can be needed. */
  #remember(read: AnchoringReading, anchoredSize: number): void {
    const needed = this.#looks.findLastIndex(({ accepted }) => accepted <= anchoredSize);
    this.#looks = [...this.#looks.slice(Math.max(0, needed)), read].slice(-MAX_LOOKS);
  }
}
