/** The end of a line (WHATWG HTML, 9.2.5). A carriage return at the end of what has come may still be followed by a line feed. */
const LINE_END = /\r\n|\n|\r/;
const EVENT_END = /(?:\r\n|\n|\r(?!\n|$)){2}/g;

/** Cuts a stream of server-sent events into events, each with the blank line that ends it. */
export class EventCutter {
  #text = '';

  /** The events that end in this piece of the stream, as bytes. */
  *push(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    // What came earlier has no end of an event in it, but perhaps the beginning of one.
    EVENT_END.lastIndex = Math.max(0, this.#text.length - 3);
    this.#text += chunk.toString('latin1');
    while (EVENT_END.exec(this.#text) !== null) {
      yield Buffer.from(this.#text.slice(start, EVENT_END.lastIndex), 'latin1');
      start = EVENT_END.lastIndex;
    }
    this.#text = this.#text.slice(start);
  }

  /** What came after the last event. */
  rest(): Buffer {
    const rest = Buffer.from(this.#text, 'latin1');
    this.#text = '';
    return rest;
  }
}

/** The value of a field of an event: of `data`, all its lines; null if it has none. */
export function fieldOf(event: Buffer, name: 'data' | 'id' | 'retry'): Buffer | null {
  const values = linesOf(event).flatMap((line) => valueOf(line, name) ?? []);
  if (values.length === 0) return null;
  return Buffer.from(name === 'data' ? values.join('\n') : (values.at(-1) ?? ''), 'latin1');
}

/** The event with other data. */
export function withData(event: Buffer, data: Buffer): Buffer {
  const lines = linesOf(event);
  const first = lines.findIndex((line) => valueOf(line, 'data') !== null);
  const others = (part: readonly string[]): string[] =>
    part.filter((line) => valueOf(line, 'data') === null && line !== '');
  const written = data
    .toString('latin1')
    .split('\n')
    .map((line) => `data: ${line}`);
  const all = [...others(lines.slice(0, first)), ...written, ...others(lines.slice(first))];
  return Buffer.from(`${all.join('\n')}\n\n`, 'latin1');
}

/** An event of a message. */
export function eventOf(message: Buffer): Buffer {
  return withData(Buffer.from('event: message\ndata:\n\n'), message);
}

function linesOf(event: Buffer): string[] {
  return event.toString('latin1').split(LINE_END);
}

function valueOf(line: string, name: string): string | null {
  if (line === name) return '';
  return line.startsWith(`${name}:`) ? line.slice(name.length + 1).replace(/^ /, '') : null;
}
