import { write, writeSync } from 'node:fs';

/** Size of the buffer, in bytes: it is written when it is full, or after a second. */
const GATHER_BYTES = 4_096;
const GATHER_MS = 1_000;
/** Bytes that may wait for a slow reader; further lines are dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** A write that takes longer than this means that the reader has stopped reading. */
const STUCK_MS = 1_000;

/**
 * Writes log lines to a file descriptor without ever stopping the process: lines that cannot be written, for whatever
 * reason, are dropped and counted, and the next ones are tried again. After a partly written line, the next successful
 * one begins on a new line.
 */
export class LogStream {
  readonly #fd: number;
  readonly #onDropped: (lines: number) => void;
  #waiting = '';
  /** When the current write began; null if none is running. */
  #writingSince: number | null = null;
  #torn = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #atExit = (): void => this.#writeLast();

  /** @param onDropped called with the number of dropped lines */
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

  /** Notes how much of some bytes was written, and returns the rest. */
  #wrote(bytes: Buffer, written: number): Buffer {
    if (written > 0) this.#torn = bytes[written - 1] !== LINE_FEED;
    return bytes.subarray(written);
  }

  #drop(bytes: Buffer): void {
    const text = bytes.toString();
    // The line feed that would have ended a torn line does not count as a line.
    this.#onDropped(linesIn(this.#torn && text.startsWith('\n') ? text.slice(1) : text));
  }

  /** Tries once more when the process ends, unless a write hangs, since another one would hang as well. */
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
