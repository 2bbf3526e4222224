const LINE_FEED = 0x0a;

/** Cuts a stream of bytes into lines, without their line feed. */
export class LineCutter {
  #parts: Buffer[] = [];

  /** The lines that end in this piece of the stream. */
  *push(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const part = chunk.subarray(start, end);
      yield this.#parts.length === 0 ? part : Buffer.concat([...this.#parts.splice(0), part]);
      start = end + 1;
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
  }

  /** What came after the last line feed. */
  rest(): Buffer {
    return Buffer.concat(this.#parts.splice(0));
  }
}
