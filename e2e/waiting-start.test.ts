import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort } from '../packages/server/test/free-port.ts';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { serve, temporaryFolder } from './process.ts';

let postgres: TestPostgres;
let url: string;

beforeAll(async () => {
  postgres = await startPostgres();
  url = await postgres.url('late');
  postgres.signal('SIGKILL');
});
afterAll(() => postgres?.stop());

const statusOf = async (port: number, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).status;

it('a service that starts before its database waits for it, and says so', async () => {
  const port = await freePort();
  const env = {
    TALLY_DATA_DIR: temporaryFolder(),
    TALLY_DATABASE_URL: url,
    TALLY_DEVNET: 'off',
    TALLY_LOG_LEVEL: 'warn',
    PORT: String(port),
  };
  const serving = serve(env);
  await vi.waitFor(async () => expect(await statusOf(port, '/healthz')).toBe(200), { timeout: 60_000 });
  expect(await statusOf(port, '/readyz')).toBe(503);
  expect(await statusOf(port, '/v1/log/checkpoint')).toBe(503);
  await postgres.restart();
  const served = await serving;
  expect(await statusOf(port, '/healthz')).toBe(200);
  const { stderr, code } = await served.kill('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toContain('waiting for the database');
});

it('and ends after its time with one line', async () => {
  const env = {
    TALLY_DATA_DIR: temporaryFolder(),
    TALLY_DATABASE_URL: `postgres://postgres:hunter2@127.0.0.1:${await freePort()}/x`,
    TALLY_DATABASE_WAIT_SECONDS: '1',
  };
  const failed = await serve(env).then(
    () => '',
    (error: Error) => error.message,
  );
  expect(failed).toMatch(/The database could not be reached within 1 s \(ECONNREFUSED\)/);
  expect(failed).not.toContain('hunter2');
});
