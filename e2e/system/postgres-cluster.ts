import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, signalPostgres } from '../../packages/server/test/postgres.ts';

/** A PostgreSQL of whatever release, whose programs and configuration the tests choose. */
export interface PostgresCluster {
  readonly port: number;
  /** The folder of its data. */
  readonly data: string;
  /** The URL of a database for the superuser. */
  readonly url: (database: string) => string;
  start(): void;
  stop(mode?: 'fast' | 'immediate'): void;
  /** Kills all of its processes. */
  kill(): void;
  /** Makes a standby a primary, and returns once it takes writes. */
  promote(): void;
}

interface ClusterOptions {
  /** Lines for `postgresql.conf`. */
  readonly settings?: string;
  /** The folder of its programs: that of Debian's newest, unless given. */
  readonly programs?: string;
}

const USER = 'postgres';

/** The folder of the programs of Debian's newest PostgreSQL, which has some that the npm packages lack. */
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
export async function startCluster(parent: string, options: ClusterOptions = {}): Promise<PostgresCluster> {
  const data = postgresFolder(parent, 'postgres');
  const { programs = postgresPrograms() } = options;
  asPostgres(join(programs, 'initdb'), '-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-sync');
  const cluster = await clusterOf(data, options);
  cluster.start();
  return cluster;
}

/** Makes a standby of a cluster, which receives all that the cluster writes, and starts it. @param name how the cluster calls it */
export async function startStandby(
  primary: PostgresCluster,
  parent: string,
  name: string,
): Promise<PostgresCluster> {
  const data = postgresFolder(parent, name);
  // The server refuses to start on data that others may read.
  chmodSync(data, 0o700);
  const from = `--dbname=${primary.url('postgres')}`;
  const how = ['--write-recovery-conf', '--checkpoint=fast'];
  asPostgres(join(postgresPrograms(), 'pg_basebackup'), from, `--pgdata=${data}`, ...how);
  const standby = await clusterOf(data, { settings: `cluster_name = '${name}'\n` });
  standby.start();
  return standby;
}

/** Prepares a cluster whose data exist, without starting it. */
export async function clusterOf(
  data: string,
  { settings = '', programs = postgresPrograms() }: ClusterOptions = {},
): Promise<PostgresCluster> {
  const port = await freePort();
  const pgCtl = (...args: string[]): string =>
    asPostgres(join(programs, 'pg_ctl'), '-D', data, '-w', '-t', '60', '-s', ...args);
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
    kill: () => signalPostgres(data, 'SIGKILL'),
    promote: () => void pgCtl('promote'),
  };
}
