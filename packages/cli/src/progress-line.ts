const REFRESH_MS = 100;
const CLEAR = '\r\x1b[K';

/** The part of a stream that is drawn on. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** One line on a terminal that says how far the work is, redrawn at most ten times a second; nothing anywhere else. */
export class ProgressLine {
  readonly #screen: Screen;
  readonly #now: () => number;
  readonly #start: number;
  #drawnAt: number;

  /** @param now milliseconds */
  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.#screen = screen;
    this.#now = now;
    this.#start = now();
    this.#drawnAt = this.#start;
  }

  /** @param text is given the milliseconds since the start */
  draw(text: (elapsedMs: number) => string): void {
    if (this.#screen.isTTY !== true) return;
    const now = this.#now();
    if (now - this.#drawnAt < REFRESH_MS) return;
    this.#drawnAt = now;
    this.#screen.write(`${CLEAR}${text(now - this.#start)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#drawnAt > this.#start) this.#screen.write(CLEAR);
  }
}

/** A share of 0 to 1 in so many cells; only all is full, and only nothing is empty. */
export function bar(share: number, width: number): string {
  const cells = Math.round(share * width);
  const full = share === 0 || share === 1 ? cells : Math.min(width - 1, Math.max(1, cells));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

const WIDTH = 24;

/** So many leaves and how fast, with a bar where the share is known. @param share 0 to 1, or null */
export function leavesText(leaves: number, elapsedMs: number, share: number | null): string {
  const rate = Math.round((leaves * 1000) / elapsedMs).toLocaleString('en');
  const facts = `${leaves.toLocaleString('en')} leaves, ${rate}/s`;
  return share === null ? facts : `${bar(share, WIDTH)} ${Math.floor(share * 100)} %  ${facts}`;
}
