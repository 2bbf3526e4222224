import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { AgentSession, type AgentSessionOptions } from './agent-session.ts';
import { type Handed, readHanded } from './event.ts';

export interface RecorderOptions extends AgentSessionOptions {
  /** Folder of the sessions. */
  readonly folder: string;
  /** Unix socket, or named pipe, on which events come. */
  readonly socket: string;
  /** Permissions of the socket. */
  readonly mode: number;
  /** How long to wait for an event before it ends, in milliseconds; null: it ends on a signal only. */
  readonly idleMs: number | null;
}

/** Where the recorder of a home folder listens: `recorderSocket` of bin/tally-hook.js says the same. */
export function socketOf(home: string): string {
  const pipe = home.replaceAll(/[^\w.-]/g, '-');
  return process.platform === 'win32' ? `\\\\.\\pipe\\tally-hooks-${pipe}` : join(home, 'hooks.sock');
}

/**
 * Records what the hooks of coding agents hand over, until no session is open, nothing has come for a while, or a signal asks
 * it to end. Each event is answered once it is written down. Returns false if another recorder listens there.
 */
export async function runRecorder(options: RecorderOptions): Promise<boolean> {
  const server = await listen(options);
  if (server === null) return false;
  const recorder = new HookRecorder(options, () => server.close());
  server.on('connection', (connection) => recorder.answer(connection));
  const end = (): void => void server.close();
  process.once('SIGTERM', end).once('SIGINT', end);
  await once(server, 'close');
  await recorder.release();
  return true;
}

class HookRecorder {
  readonly #options: RecorderOptions;
  readonly #end: () => void;
  readonly #sessions = new Map<string, AgentSession>();
  /** Sessions that are being closed or released. */
  readonly #leaving = new Map<string, Promise<void>>();
  #idle: NodeJS.Timeout | undefined;

  /** @param end ends the recorder */
  constructor(options: RecorderOptions, end: () => void) {
    this.#options = options;
    this.#end = end;
    this.#wait();
  }

  /** Takes the events of a connection. Its answer is the number of those that need not be handed over again, and `ok` or a fault. */
  answer(connection: Socket): void {
    connection.on('error', () => undefined);
    void this.#takeAll(connection).then((said) => connection.end(`${said}\n`));
  }

  /** Leaves all sessions open. */
  async release(): Promise<void> {
    clearTimeout(this.#idle);
    for (const name of this.#sessions.keys()) this.#leave(name, (session) => session.release());
    await Promise.all(this.#leaving.values());
  }

  async #takeAll(connection: Socket): Promise<string> {
    let done = 0;
    try {
      for (const line of (await text(connection)).split('\n').slice(0, -1)) {
        await this.#take(line);
        done += 1;
      }
      return `${done} ok`;
    } catch (error) {
      return `${done} ${(error as Error).message}`;
    }
  }

  async #take(line: string): Promise<void> {
    const handed = this.#read(line);
    if (handed === null) return;
    this.#wait();
    const { agent, event } = handed;
    const name = `${agent}-${event.session_id}`;
    await this.#leaving.get(name);
    const path = join(this.#options.folder, name);
    const session = this.#sessions.get(name) ?? new AgentSession(agent, path, this.#options);
    this.#sessions.set(name, session);
    try {
      await session.take(handed);
    } catch (error) {
      // The next event opens the session anew.
      this.#leave(name, () => session.release());
      throw error;
    }
    // The agent does not wait long for a hook at its end: the closing is not waited for.
    if (event.hook_event_name === 'SessionEnd') this.#leave(name, () => session.close());
  }

  /** Takes a session out. Another one of that name waits until it is left. */
  #leave(name: string, leave: (session: AgentSession) => Promise<void>): void {
    const session = this.#sessions.get(name);
    if (session === undefined) return;
    this.#sessions.delete(name);
    const left = leave(session)
      .catch((error: Error) => this.#options.log(`${name}: ${error.message}`))
      .finally(() => {
        this.#leaving.delete(name);
        if (this.#sessions.size + this.#leaving.size === 0 && this.#options.idleMs !== null) this.#end();
      });
    this.#leaving.set(name, left);
  }

  /** What no hook could ever hand over better is left out. */
  #read(line: string): Handed | null {
    try {
      return readHanded(line);
    } catch (error) {
      this.#options.log(`An event was left out: ${(error as Error).message}.`);
      return null;
    }
  }

  #wait(): void {
    clearTimeout(this.#idle);
    const { idleMs } = this.#options;
    if (idleMs !== null) this.#idle = setTimeout(this.#end, idleMs);
  }
}

/** Listens; null if another recorder does. The socket of one that was killed is replaced. */
async function listen({ socket, mode }: RecorderOptions): Promise<Server | null> {
  const server = createServer({ allowHalfOpen: true });
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  try {
    await listening(server, socket);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (await isAnswered(socket)) return null;
    rmSync(socket, { force: true });
    await listening(server, socket);
  }
  if (process.platform !== 'win32') chmodSync(socket, mode);
  return server;
}

async function listening(server: Server, socket: string): Promise<void> {
  server.listen(socket);
  await once(server, 'listening');
}

async function isAnswered(socket: string): Promise<boolean> {
  const connection = connect(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}
