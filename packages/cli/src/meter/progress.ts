import { statSync } from 'node:fs';
import { leavesText, ProgressLine, type Screen } from '../progress-line.ts';
import { type ItemLine, readEvidence } from './evidence.ts';

/** Number of leaves between two looks at the clock. */
const LEAVES_A_LOOK = 512;

/** Shows how many leaves were taken, and how fast. */
export class Progress {
  readonly #line: ProgressLine;
  readonly #total: number;
  #bytes = 0;
  #leaves = 0;

  /** @param total number of bytes to read; 0 if unknown @param now clock in milliseconds */
  constructor(screen: Screen, total: number, now?: () => number) {
    this.#line = new ProgressLine(screen, now);
    this.#total = total;
  }

  read(bytes: number): void {
    this.#bytes += bytes;
  }

  leaf(): void {
    this.#leaves += 1;
    if (this.#leaves % LEAVES_A_LOOK !== 0) return;
    const share = this.#total === 0 ? null : Math.min(1, this.#bytes / this.#total);
    this.#line.draw((elapsedMs) => leavesText(this.#leaves, elapsedMs, share));
  }

  end(): void {
    this.#line.end();
  }
}

/** The items of an evidence file, with progress shown on the terminal. Throws as `readEvidence` does. */
export function* watchedEvidence(path: string): Generator<ItemLine> {
  const progress = new Progress(process.stderr, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  try {
    for (const line of readEvidence(path, (bytes) => progress.read(bytes))) {
      progress.leaf();
      yield line;
    }
  } finally {
    progress.end();
  }
}
