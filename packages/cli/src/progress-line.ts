const REFRESH_MS = 100;
const CLEAR = '\r\x1b[K';

/** The part of an output stream that drawing needs. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** One line on a terminal that shows progress, redrawn at most ten times a second; it draws nothing anywhere else. */
export class ProgressLine {
  readonly #screen: Screen;
  readonly #now: () => number;
  readonly #start: number;
  #drawnAt: number;

  /** @param now clock in milliseconds */
  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.#screen = screen;
    this.#now = now;
    this.#start = now();
    this.#drawnAt = this.#start;
  }

  /** @param text called with the milliseconds since the start */
  draw(text: (elapsedMs: number) => string): void {
    if (this.#screen.isTTY !== true) return;
    const now = this.#now();
    if (now - this.#drawnAt < REFRESH_MS) return;
    this.#drawnAt = now;
    this.#screen.write(`${CLEAR}${text(now - this.#start)}`);
  }

  /** Removes the line. */
  end(): void {
    if (this.#drawnAt > this.#start) this.#screen.write(CLEAR);
  }
}

/** Draws a share of 0 to 1 as a bar of `width` cells; only everything is full, and only nothing is empty. */
export function bar(share: number, width: number): string {
  const cells = Math.round(share * width);
  const full = share === 0 || share === 1 ? cells : Math.min(width - 1, Math.max(1, cells));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

const WIDTH = 24;

/** Number of leaves and their rate, with a bar if the share is known. @param share 0 to 1, or null */
export function leavesText(leaves: number, elapsedMs: number, share: number | null): string {
  const rate = Math.round((leaves * 1000) / elapsedMs).toLocaleString('en');
  const facts = `${leaves.toLocaleString('en')} leaves, ${rate}/s`;
  return share === null ? facts : `${bar(share, WIDTH)} ${Math.floor(share * 100)} %  ${facts}`;
}
