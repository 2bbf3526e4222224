import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../packages/server/test/free-port.ts';
import { until } from '../log-client.ts';
import { type PostgresCluster, postgresFolder } from './postgres-cluster.ts';

/** A pgbouncer in transaction mode before all databases of a cluster. */
export interface Pgbouncer {
  /** The URL of a database through it. */
  readonly url: (database: string) => string;
  stop(): Promise<void>;
}

/** Starts Debian's pgbouncer with its defaults, but for the mode and where it listens. @param settings more lines for its section */
export async function startPgbouncer(
  cluster: PostgresCluster,
  parent: string,
  settings = '',
): Promise<Pgbouncer> {
  const port = await freePort();
  const folder = postgresFolder(parent, 'pgbouncer');
  const users = join(folder, 'users.txt');
  writeFileSync(users, '"postgres" ""\n');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${cluster.port}
[pgbouncer]
pool_mode = transaction
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
logfile = ${join(folder, 'pgbouncer.log')}
${settings}`,
  );
  // Like PostgreSQL, it refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
  const [program, ...args] = [...asUser, 'pgbouncer', '--quiet', file];
  const child = spawn(program, args, { stdio: 'ignore' });
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  await until(
    () => answers(child, url('postgres')),
    (yes) => yes,
  );
  return {
    url,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function answers(child: ChildProcess, url: string): Promise<boolean> {
  if (child.exitCode !== null) return false;
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
