import { type StatusLog, toHex } from '@tallystick/core';
import type { AnchorLog, LogStatus, LogStore } from '@tallystick/log';

export interface AnchoringMeans {
  readonly log: Pick<AnchorLog, 'origin' | 'status' | 'leaf'>;
  readonly store: { readonly log: Pick<LogStore, 'newestCheckpoint'> };
  /** Seconds between scheduled postings. */
  readonly period: number;
}

/** How the log is, as status tells it, and as the log itself says. */
export interface Anchoring {
  readonly report: StatusLog;
  readonly status: LogStatus;
}

/** Looks are remembered for this long, in minutes: a day of them. */
const MAX_LOOKS = 1_440;

/** So many leaves were accepted at a time, in Unix seconds. */
interface AnchoringReading {
  readonly accepted: number;
  readonly at: number;
}

/**
 * Looks at the log. A leaf does not say when it was accepted, only when it is to be posted: no later than a period
 * after. So how long it waited is told by the newest look before it was there, or by its schedule, whichever is nearer.
 */
export class AnchoringWatch {
  readonly #means: AnchoringMeans;
  #looks: AnchoringReading[] = [];

  constructor(means: AnchoringMeans) {
    this.#means = means;
  }

  /** @param now Unix milliseconds */
  async look(now: number): Promise<Anchoring> {
    const { log, store } = this.#means;
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
    const { batchAt } = await this.#means.log.leaf(index);
    const lastWithout = this.#looks.findLast(({ accepted }) => accepted <= index)?.at ?? 0;
    return Math.max(0, now - Math.max(batchAt - this.#means.period, lastWithout));
  }

  /** Of the looks before the oldest leaf that waits, only the newest can ever be needed. */
  #remember(look: AnchoringReading, anchoredSize: number): void {
    const needed = this.#looks.findLastIndex(({ accepted }) => accepted <= anchoredSize);
    this.#looks = [...this.#looks.slice(Math.max(0, needed)), look].slice(-MAX_LOOKS);
  }
}
