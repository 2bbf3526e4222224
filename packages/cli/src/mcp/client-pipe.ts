import { LineCutter } from './lines.ts';

/** The client of the stdio transport: it started this process and writes a message a line to its standard input. */
export class ClientPipe {
  #isFull = false;
  #paused: { resume(): unknown }[] = [];

  constructor() {
    process.stdout.on('drain', () => {
      this.#isFull = false;
      for (const source of this.#paused.splice(0)) source.resume();
    });
  }

  /** Writes a message. @param message without a line feed, which is white space in JSON */
  write(message: Buffer): void {
    this.#isFull = !process.stdout.write(Buffer.concat([message, LINE_END]));
  }

  /** Pauses what the messages come from while the client does not read. */
  holdBack(source: { pause(): unknown; resume(): unknown }): void {
    if (!this.#isFull) return;
    source.pause();
    this.#paused.push(source);
  }

  /** Calls back for each line that the client writes; resolves when it has closed its end. */
  async read(take: (line: Buffer) => void | Promise<void>): Promise<void> {
    const lines = new LineCutter();
    for await (const chunk of process.stdin) for (const line of lines.push(chunk as Buffer)) await take(line);
    const rest = lines.rest();
    if (rest.length > 0) await take(rest);
  }

  /** Resolves when all that was written is with the operating system. */
  flush(): Promise<void> {
    return new Promise((resolve) => void process.stdout.write('', () => resolve()));
  }
}

const LINE_END = Buffer.from('\n');
