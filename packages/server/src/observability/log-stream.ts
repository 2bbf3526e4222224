import { write, writeSync } from 'node:fs';

/** Size of the buffer, in bytes: it is written when it is full, or after a second. */
const GATHER_BYTES = 4_096;
const GATHER_MS = 1_000;
/** Bytes that wait for a slow reader; what comes beyond them is dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** A write that takes longer than this is of a reader that has stopped reading. */
const STUCK_MS = 1_000;

/**
 * Writes log lines to a file descriptor, and never stops the process for them: lines that cannot be written, for
 * whatever reason, are dropped and counted, and the next ones are tried again. Where a line was written in part, the
 * next one that succeeds begins on a line of its own.
 */
export class LogStream {
  readonly #fd: number;
  readonly #onDropped: (lines: number) => void;
  #waiting = '';
  /** When the write that is under way began; null where none is. */
  #writingSince: number | null = null;
  #torn = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #atExit = (): void => this.#writeLast();

  /** @param onDropped hears how many lines were dropped */
  constructor(fd: number, onDropped: (lines: number) => void) {
    this.#fd = fd;
    this.#onDropped = onDropped;
  }

  /** @param line one or more lines, each with its line feed */
  write(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING_BYTES) return this.#onDropped(linesIn(line));
    if (this.#waiting === '') this.#wait();
    this.#waiting += line;
    if (this.#waiting.length >= GATHER_BYTES) this.#flush();
  }

  #wait(): void {
    if (this.#writingSince !== null) return;
    process.once('exit', this.#atExit);
    this.#timer = setTimeout(() => this.#flush(), GATHER_MS);
    this.#timer.unref();
  }

  #flush(): void {
    if (this.#writingSince !== null || this.#waiting === '') return;
    clearTimeout(this.#timer);
    this.#writingSince = performance.now();
    this.#writeOn(this.#takeAll());
  }

  #takeAll(): Buffer {
    const bytes = Buffer.from(this.#torn ? `\n${this.#waiting}` : this.#waiting);
    this.#waiting = '';
    return bytes;
  }

  #writeOn(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error === null && written < bytes.length) return this.#writeOn(this.#wrote(bytes, written));
      if (error === null) this.#wrote(bytes, written);
      else this.#drop(bytes);
      this.#writingSince = null;
      process.off('exit', this.#atExit);
      if (this.#waiting !== '') this.#wait();
    });
  }

  /** Takes note of what was written of some bytes, and answers the rest. */
  #wrote(bytes: Buffer, written: number): Buffer {
    if (written > 0) this.#torn = bytes[written - 1] !== LINE_FEED;
    return bytes.subarray(written);
  }

  #drop(bytes: Buffer): void {
    const text = bytes.toString();
    // The line feed that would have ended a torn line is not a line.
    this.#onDropped(linesIn(this.#torn && text.startsWith('\n') ? text.slice(1) : text));
  }

  /** One attempt at the end of the process, and none where a write hangs: another one would hang as well. */
  #writeLast(): void {
    const since = this.#writingSince;
    if (since !== null && performance.now() - since > STUCK_MS) return;
    let rest = this.#takeAll();
    try {
      while (rest.length > 0) rest = this.#wrote(rest, writeSync(this.#fd, rest));
    } catch {
      this.#drop(rest);
    }
  }
}

const LINE_FEED = 10;

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}
