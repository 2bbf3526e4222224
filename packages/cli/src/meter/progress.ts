import { statSync } from 'node:fs';
import { type LeafLine, readEvidence } from './evidence.ts';

const WIDTH = 24;
const REFRESH_MS = 100;
/** The clock is looked at once in so many leaves. */
const LEAVES_A_LOOK = 512;

/** The part of a stream that is drawn on. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** A line on a terminal that says how many leaves were taken, and how fast; nothing anywhere else. */
export class Progress {
  readonly #screen: Screen;
  readonly #total: number;
  readonly #now: () => number;
  readonly #start: number;
  #drawnAt: number;
  #bytes = 0;
  #leaves = 0;

  /**
   * @param total the bytes that there are to read; 0 where nobody knows
   * @param now milliseconds
   */
  constructor(screen: Screen, total: number, now: () => number = () => performance.now()) {
    this.#screen = screen;
    this.#total = total;
    this.#now = now;
    this.#start = now();
    this.#drawnAt = this.#start;
  }

  read(bytes: number): void {
    this.#bytes += bytes;
  }

  leaf(): void {
    this.#leaves += 1;
    if (this.#screen.isTTY !== true || this.#leaves % LEAVES_A_LOOK !== 0) return;
    const now = this.#now();
    if (now - this.#drawnAt < REFRESH_MS) return;
    this.#drawnAt = now;
    this.#screen.write(`\r\x1b[K${this.#text(now - this.#start)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#drawnAt > this.#start) this.#screen.write('\r\x1b[K');
  }

  #text(elapsedMs: number): string {
    const count = this.#leaves.toLocaleString('en');
    const rate = Math.round((this.#leaves * 1000) / elapsedMs).toLocaleString('en');
    const facts = `${count} leaves, ${rate}/s`;
    if (this.#total === 0) return facts;
    const share = Math.min(1, this.#bytes / this.#total);
    return `${bar(share, WIDTH)} ${Math.floor(share * 100)} %  ${facts}`;
  }
}

/** A share of 0 to 1 in so many cells; only all is full, and only nothing is empty. */
export function bar(share: number, width: number): string {
  const cells = Math.round(share * width);
  const full = share === 0 || share === 1 ? cells : Math.min(width - 1, Math.max(1, cells));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** The leaves of an evidence file, with progress shown on the terminal. Throws as `readEvidence` does. */
export function* watchedEvidence(path: string): Generator<LeafLine> {
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
