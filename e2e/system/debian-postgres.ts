import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../packages/server/test/postgres.ts';

/** A PostgreSQL from Debian's package, which has programs that the npm package lacks. */
export interface DebianPostgres {
  readonly port: number;
  /** The folder of its data. */
  readonly data: string;
  /** The URL of a database for the superuser. */
  url(database: string): string;
  start(): void;
  stop(mode?: 'fast' | 'immediate'): void;
}

const USER = 'postgres';

/** The folder of the newest PostgreSQL's programs. */
export function postgresPrograms(): string {
  const [newest] = globSync('/usr/lib/postgresql/*/bin').toSorted().reverse();
  if (newest === undefined) throw new Error('There is no PostgreSQL of Debian: apt-get install postgresql');
  return newest;
}

/** Runs a program of PostgreSQL. The server refuses to run as root, so root runs it as the user postgres. */
export function asPostgres(command: string, ...args: string[]): string {
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', USER, '--'] : [];
  const [program = '', ...rest] = [...asUser, command, ...args];
  return execFileSync(program, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Makes a folder that belongs to the user who runs PostgreSQL. */
export function postgresFolder(parent: string, name: string): string {
  chmodSync(parent, 0o755);
  const folder = join(parent, name);
  mkdirSync(folder);
  if (process.getuid?.() === 0) execFileSync('chown', [USER, folder]);
  return folder;
}

/** Makes an empty cluster below a folder and starts it. */
export async function startDebianPostgres(parent: string, settings = ''): Promise<DebianPostgres> {
  const data = postgresFolder(parent, 'postgres');
  asPostgres(
    join(postgresPrograms(), 'initdb'),
    '-D',
    data,
    '-U',
    USER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-sync',
  );
  const cluster = await debianPostgres(data, settings);
  cluster.start();
  return cluster;
}

/** Prepares a cluster whose data exist, without starting it. */
export async function debianPostgres(data: string, settings = ''): Promise<DebianPostgres> {
  const port = await freePort();
  const pgCtl = (...args: string[]): string =>
    asPostgres(join(postgresPrograms(), 'pg_ctl'), '-D', data, '-w', '-t', '60', '-s', ...args);
  appendFileSync(
    join(data, 'postgresql.conf'),
    `\nport = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n${settings}`,
  );
  return {
    port,
    data,
    url: (database) => `postgres://${USER}@127.0.0.1:${port}/${database}`,
    start: () => void pgCtl('-l', join(data, 'server.log'), 'start'),
    stop: (mode = 'fast') => void pgCtl('-m', mode, 'stop'),
  };
}
