import { ByteBuffer } from '../encoding/byte-buffer.ts';
import { TallyError } from '../errors.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const NEW_LINE = Uint8Array.of(LINE_FEED);

/** A byte order mark within a stream is a character like others. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Handles one event: its payload, which is the text of its `data:` lines joined by newlines, and its name, null if it has
 * none. The bytes change after the call, so the handler must copy what it keeps.
 */
export type TakeEvent = (payload: Uint8Array, name: string | null) => void;

/**
 * Reads server-sent events (HTML Living Standard, section 9.2.6) from bytes that may be split anywhere, holding one event
 * at most. Payloads stay the bytes that they are. `id`, `retry` and comments are ignored, and so is an event that no
 * blank line ends.
 */
export class SseReader {
  readonly #take: TakeEvent;
  readonly #maxBytes: number;
  readonly #line = new ByteBuffer();
  readonly #data = new ByteBuffer();
  #hasData = false;
  #name = '';
  #isFirstLine = true;
  /** Whether the last line ended with a carriage return, so that a line feed belongs to that end. */
  #afterReturn = false;

  /** @param maxBytes the most bytes that one event may have */
  constructor(take: TakeEvent, maxBytes: number) {
    this.#take = take;
    this.#maxBytes = maxBytes;
  }

  /** @throws body_too_large for an event that is too long */
  push(chunk: Uint8Array): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue;
      const endsReturn = byte === LINE_FEED && this.#afterReturn && at === start && this.#line.length === 0;
      if (!endsReturn) this.#endLine(chunk.subarray(start, at));
      this.#afterReturn = byte === CARRIAGE_RETURN;
      start = at + 1;
    }
    this.#keep(this.#line, chunk.subarray(start));
  }

  #endLine(tail: Uint8Array): void {
    if (this.#line.length === 0) return this.#takeLine(tail);
    this.#keep(this.#line, tail);
    this.#takeLine(this.#line.take());
  }

  #takeLine(whole: Uint8Array): void {
    const marked = this.#isFirstLine && BYTE_ORDER_MARK.every((byte, index) => whole[index] === byte);
    this.#isFirstLine = false;
    const line = marked ? whole.subarray(BYTE_ORDER_MARK.length) : whole;
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(COLON);
    const field = decoder.decode(colon < 0 ? line : line.subarray(0, colon));
    const after = colon < 0 ? line.length : colon + 1;
    const value = line.subarray(line[after] === SPACE ? after + 1 : after);
    if (field === 'event') this.#name = decoder.decode(value);
    if (field !== 'data') return;
    if (this.#hasData) this.#keep(this.#data, NEW_LINE);
    this.#keep(this.#data, value);
    this.#hasData = true;
  }

  #dispatch(): void {
    const name = this.#name === '' ? null : this.#name;
    const payload = this.#data.take();
    const isEvent = this.#hasData;
    this.#hasData = false;
    this.#name = '';
    if (isEvent) this.#take(payload, name);
  }

  #keep(buffer: ByteBuffer, part: Uint8Array): void {
    if (this.#line.length + this.#data.length + part.length > this.#maxBytes) {
      throw new TallyError('body_too_large', `An event may have at most ${this.#maxBytes} bytes.`);
    }
    buffer.append(part);
  }
}
