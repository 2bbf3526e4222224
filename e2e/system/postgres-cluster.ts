import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../packages/server/test/free-port.ts';
import { signalPostgres } from '../../packages/server/test/postgres.ts';

/** A PostgreSQL of whatever release, whose programs and configuration the tests choose. */
export interface PostgresCluster {
  readonly port: number;
  /** The folder of its data. */
  readonly data: string;
  /** The URL of a database for the superuser. */
  readonly url: (database: string) => string;
  start(): Promise<void>;
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Kills all of its processes. */
  kill(): void;
  /** Makes a standby a primary, and returns once it takes writes. */
  promote(): Promise<void>;
}

interface ClusterOptions {
  /** Lines for `postgresql.conf`. */
  readonly settings?: string;
  /** The folder of its programs: that of Debian's newest, unless given. */
  readonly programs?: string;
  /** A free one, unless given. */
  readonly port?: number | undefined;
}

const USER = 'postgres';

/** The folder of the programs of Debian's newest PostgreSQL, which has some that the npm packages lack. */
export function postgresPrograms(): string {
  const [newest] = globSync('/usr/lib/postgresql/*/bin').toSorted().reverse();
  if (newest === undefined) throw new Error('There is no PostgreSQL of Debian: apt-get install postgresql');
  return newest;
}

/** Runs a program of PostgreSQL. The server refuses to run as root, so root runs it as the user postgres. */
export async function asPostgres(command: string, ...args: string[]): Promise<string> {
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', USER, '--'] : [];
  const [program = '', ...rest] = [...asUser, command, ...args];
  const running = promisify(execFile)(program, rest, { maxBuffer: 2 ** 30 });
  running.child.stdin?.end();
  return (await running).stdout;
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
  await asPostgres(
    join(programs, 'initdb'),
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
  const cluster = await clusterOf(data, options);
  await cluster.start();
  return cluster;
}

/**
 * Makes a standby of a cluster, which receives all that the cluster writes, and starts it.
 * @param name how the cluster calls it
 * @param port a free one, unless given
 */
export async function startStandby(
  primary: PostgresCluster,
  parent: string,
  name: string,
  port?: number,
): Promise<PostgresCluster> {
  const data = postgresFolder(parent, name);
  // The server refuses to start on data that others may read.
  chmodSync(data, 0o700);
  const from = `--dbname=${primary.url('postgres')}`;
  const how = ['--write-recovery-conf', '--checkpoint=fast'];
  await asPostgres(join(postgresPrograms(), 'pg_basebackup'), from, `--pgdata=${data}`, ...how);
  const standby = await clusterOf(data, { settings: `cluster_name = '${name}'\n`, port });
  await standby.start();
  return standby;
}

/** Prepares a cluster whose data exist, without starting it. */
export async function clusterOf(
  data: string,
  { settings = '', programs = postgresPrograms(), port: given }: ClusterOptions = {},
): Promise<PostgresCluster> {
  const port = given ?? (await freePort());
  const pgCtl = async (...args: string[]): Promise<void> => {
    await asPostgres(join(programs, 'pg_ctl'), '-D', data, '-w', '-t', '60', '-s', ...args);
  };
  appendFileSync(
    join(data, 'postgresql.conf'),
    `\nport = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n${settings}`,
  );
  return {
    port,
    data,
    url: (database) => `postgres://${USER}@127.0.0.1:${port}/${database}`,
    start: () => pgCtl('-l', join(data, 'server.log'), 'start'),
    stop: (mode = 'fast') => pgCtl('-m', mode, 'stop'),
    kill: () => signalPostgres(data, 'SIGKILL'),
    promote: () => pgCtl('promote'),
  };
}
