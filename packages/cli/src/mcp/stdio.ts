import { type ChildProcess, spawn } from 'node:child_process';
import { UsageError } from '../output.ts';
import { ClientPipe } from './client-pipe.ts';
import type { Conversation, Passage } from './conversation.ts';
import { InOrder } from './in-order.ts';
import { LineCutter } from './lines.ts';
import { ENDING_SIGNALS } from './told-to-end.ts';

/** How a server ended. */
export interface ServerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Stands between this process's standard input and output and a server that it starts. Standard error is the server's own.
 * Resolves when the server has ended and all that it wrote is passed on.
 * @throws UsageError if the server can't be started
 */
export async function runStdio(command: readonly string[], conversation: Conversation): Promise<ServerEnd> {
  const server = await start(command);
  const client = new ClientPipe();
  const toClient = new InOrder<Buffer>((message) => client.write(message));
  const answer = (message: Buffer): void => client.write(message);
  const toServer = new InOrder<Passage>((passage) => {
    if (passage.forward) server.stdin.write(Buffer.concat([passage.forward, LINE_END]));
    if (passage.answer) answer(passage.answer);
  });
  const passSignal = (signal: NodeJS.Signals): void => {
    // A terminal sends Ctrl-C to both processes.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) server.kill(signal);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, passSignal);

  const lines = new LineCutter();
  server.stdout.on('data', (chunk: Buffer) => {
    for (const line of lines.push(chunk)) toClient.put(conversation.give(line));
    client.holdBack(server.stdout);
  });
  // The server may end before its client does.
  server.stdin.on('error', () => {});
  const ended = new Promise<ServerEnd>((resolve) => {
    server.once('close', (code, signal) => resolve({ code, signal }));
  });
  const reading = client.read(async (line) => {
    const { passage, waitsForUser } = conversation.take(line, answer);
    if (waitsForUser) void putLater(toServer, passage);
    else toServer.put(passage);
    if (server.stdin.writableNeedDrain) await Promise.race([drained(server.stdin), ended]);
  });
  void endInput();

  async function endInput(): Promise<void> {
    await reading;
    conversation.stopAsking();
    await toServer.settled;
    server.stdin.end();
  }

  const end = await ended;
  const rest = lines.rest();
  if (rest.length > 0) toClient.put(conversation.give(rest));
  await Promise.all([toClient.settled, toServer.settled]);
  conversation.stopAsking();
  await conversation.end('unknown');
  await client.flush();
  for (const signal of ENDING_SIGNALS) process.off(signal, passSignal);
  return end;
}

const LINE_END = Buffer.from('\n');

async function putLater<T>(queue: InOrder<T>, item: T | Promise<T>): Promise<void> {
  queue.put(await item);
}

type Server = ChildProcess & {
  stdin: NonNullable<ChildProcess['stdin']>;
  stdout: NonNullable<ChildProcess['stdout']>;
};

function start([program = '', ...args]: readonly string[]): Promise<Server> {
  return new Promise((resolve, reject) => {
    // The key of who signs is not the server's business.
    const { TALLY_API_KEY: _key, ...env } = process.env;
    const server = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    server.once('spawn', () => resolve(server));
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'ENOENT' ? 'there is no such program' : cause.message;
      reject(new UsageError(`${program} can't be started: ${why}.`, { cause }));
    });
  });
}

function drained(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => void stream.once('drain', () => resolve()));
}
