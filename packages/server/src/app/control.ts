import { mkdirSync, readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isObject, type JsonObject, parseJson, utf8 } from '@tallystick/core';
import { bindSocket } from './unix-socket.ts';

/** What a process says when it is asked to reload. */
export interface ReloadResult {
  /** What kept it from reloading; it then goes on as it was. */
  readonly faults: readonly string[];
  /** Settings that have changed and need a restart. */
  readonly restart: readonly string[];
}

const SUFFIX = '.control';
const REQUEST = 'reload\n';

/**
 * Lets `reloadProcesses` ask this process to reload, through a Unix socket in the folder. The folder and the socket are
 * for this user alone. Resolves to what ends it.
 */
export async function openControl(folder: string, reload: () => Promise<ReloadResult>): Promise<() => void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.setTimeout(REQUEST_MS, () => socket.destroy());
    socket.once('data', (data) => {
      if (data.toString() !== REQUEST) return void socket.destroy();
      socket.setTimeout(0);
      void reload().then((result) => socket.end(JSON.stringify(result)));
    });
  });
  await bindSocket(server, join(folder, `${process.pid}${SUFFIX}`), 0o600);
  server.unref();
  return () => server.close();
}

const REQUEST_MS = 5_000;

/** Asks every process whose socket is in the folder. Resolves to the answers by process number, without those that ended. */
export async function reloadProcesses(folder: string): Promise<ReadonlyMap<number, ReloadResult>> {
  const answers = new Map<number, ReloadResult>();
  for (const name of namesIn(folder).filter((one) => one.endsWith(SUFFIX))) {
    const answer = await ask(join(folder, name));
    if (answer !== null) answers.set(Number.parseInt(name, 10), answer);
  }
  return answers;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Null where nobody listens. */
async function ask(path: string): Promise<ReloadResult | null> {
  const socket = connect(path);
  socket.write(REQUEST);
  try {
    return resultOf(parseJson(utf8(await text(socket))));
  } catch (error) {
    if (['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function resultOf(json: unknown): ReloadResult {
  const { faults, restart } = isObject(json as JsonObject) ? (json as JsonObject) : {};
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  return { faults: texts(faults), restart: texts(restart) };
}
