/** One event of a stream of server-sent events. */
export interface SseEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** The bytes are no stream of server-sent events that could be read here. */
export class SseError extends Error {
  override readonly name = 'SseError';
}

const lineEnd = /[\r\n]/g;

/**
 * Reads server-sent events out of bytes that may be split anywhere (HTML Living Standard, section 9.2.6), holding
 * one event at most. Unlike a browser it refuses bytes that are not UTF-8. `id` and `retry` are not of interest to
 * who never reconnects.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #maxLength: number;
  /** The start of a line whose end has not come yet. */
  #line = '';
  /** The last character was a carriage return: a line feed that follows belongs to it. */
  #afterReturn = false;
  #event = '';
  #data: string | null = null;

  /** @param maxLength of one event, in UTF-16 code units */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /**
   * The events that these bytes complete, in order.
   * @throws SseError for bytes that are not UTF-8 and for an event that is too long
   */
  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    const text = this.#decode(bytes);
    let start = 0;
    if (this.#afterReturn && text !== '') {
      this.#afterReturn = false;
      if (text.startsWith('\n')) start = 1;
    }
    for (let end = nextLineEnd(text, start); end >= 0; end = nextLineEnd(text, start)) {
      const line = this.#line + text.slice(start, end);
      this.#line = '';
      this.#takeLine(line, events);
      start = end + 1;
      if (text[end] === '\r') {
        if (start === text.length) this.#afterReturn = true;
        else if (text[start] === '\n') start += 1;
      }
    }
    this.#line += text.slice(start);
    this.#requireFit();
    return events;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: true });
    } catch {
      throw new SseError('The stream is not UTF-8.');
    }
  }

  #takeLine(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data !== null) events.push({ event: this.#event || 'message', data: this.#data });
      this.#event = '';
      this.#data = null;
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name !== 'data' && name !== 'event') return;
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value;
    else this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    this.#requireFit();
  }

  #requireFit(): void {
    if (this.#line.length + (this.#data?.length ?? 0) > this.#maxLength)
      throw new SseError(`An event of the stream is longer than ${this.#maxLength} characters.`);
  }
}

function nextLineEnd(text: string, from: number): number {
  lineEnd.lastIndex = from;
  return lineEnd.test(text) ? lineEnd.lastIndex - 1 : -1;
}
