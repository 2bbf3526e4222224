import { createParser, type EventSourceParser } from 'eventsource-parser';

/** One event of a stream of server-sent events. */
export interface SseEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** Thrown when bytes are no server-sent events that can be read here. */
export class SseError extends Error {
  override readonly name = 'SseError';
}

/**
 * Reads server-sent events from bytes that may be split anywhere (HTML Living Standard, section 9.2.6), holding at most
 * one event. Unlike a browser it refuses bytes that are not UTF-8. It ignores `id` and `retry`, since it never
 * reconnects.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #parser: EventSourceParser;
  #events: SseEvent[] = [];
  /** Whether the bytes so far end with a carriage return, of which a line feed may be the other half. */
  #afterReturn = false;

  /** @param maxLength of one event, in UTF-16 code units */
  constructor(maxLength: number) {
    this.#parser = createParser({
      maxBufferSize: maxLength,
      onEvent: ({ event = 'message', data }) => this.#events.push({ event, data }),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded')
          throw new SseError(`An event of the stream is longer than ${maxLength} characters.`);
      },
    });
  }

  /**
   * The events that these bytes complete, in order.
   * @throws SseError for bytes that are not UTF-8 and for an event that is too long
   */
  push(bytes: Uint8Array): SseEvent[] {
    this.#events = [];
    this.#parser.feed(this.#withLineFeeds(this.#decode(bytes)));
    return this.#events;
  }

  /**
   * Every end of a line as a line feed: after a carriage return that was its last byte, the parser would give the event
   * only with the end of the next line.
   */
  #withLineFeeds(text: string): string {
    if (text === '') return text;
    const rest = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#afterReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: true });
    } catch {
      throw new SseError('The stream is not UTF-8.');
    }
  }
}
