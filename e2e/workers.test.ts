import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../packages/server/test/free-port.ts';
import { MODELS_FILE } from '../packages/server/test/models.ts';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { Acknowledged } from './acknowledged.ts';
import { until } from './log-client.ts';
import { type Env, post, type Served, serve, TALLY, tally, temporaryFolder } from './process.ts';

const WORKERS = 2;
const CALLERS = 8;

let upstream: Upstream;
let postgres: TestPostgres;
beforeAll(async () => {
  [upstream, postgres] = await Promise.all([startUpstream(), startPostgres()]);
});
afterAll(async () => {
  await Promise.all([upstream.close(), postgres.stop()]);
});

/** Processes that a process has started: their ids and command lines. */
function childrenOf(parent: number): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return Number(ppid) === parent ? [{ pid: Number(name), command }] : [];
      } catch {
        return [];
      }
    });
}

const workersOf = ({ pid }: Served): number[] =>
  childrenOf(pid)
    .filter(({ command }) => command.includes(`${TALLY} serve`))
    .map(({ pid: worker }) => worker);

/** Whether a process runs, and is not only waiting for its parent to hear that it has ended. */
function lives(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The value of a metric with these labels, over all workers. */
async function metric(url: string, series: string): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return Number(lines.find((line) => line.startsWith(`${series} `))?.split(' ')[1]);
}

const untilAllServe = (url: string): Promise<void> =>
  vi.waitFor(async () => expect(await metric(url, 'tally_workers')).toBe(WORKERS), {
    timeout: 120_000,
    interval: 200,
  });

/** Mints from several callers, each with a connection of its own for each request. */
class Load {
  readonly acknowledged = new Acknowledged('workers');
  readonly broken: unknown[] = [];
  refused = 0;
  readonly #ended: Promise<unknown>;
  #goes = true;

  constructor(url: string) {
    this.#ended = Promise.all(Array.from({ length: CALLERS }, () => this.#mint(url)));
  }

  async #mint(url: string): Promise<void> {
    while (this.#goes) {
      const status = await this.acknowledged.mint(url, 60_000).catch((error: unknown) => {
        this.broken.push(error);
        return 200;
      });
      if (status !== 200) this.refused += 1;
    }
  }

  async more(count: number): Promise<void> {
    const before = this.acknowledged.receipts;
    await until(
      async () => this.acknowledged.receipts,
      (receipts) => receipts > before + count,
      120,
    );
  }

  async end(): Promise<void> {
    this.#goes = false;
    await this.#ended;
  }
}

const databases: [string, () => Promise<Env>][] = [
  ['SQLite, with the development chain', async () => ({})],
  ['PostgreSQL', async () => ({ TALLY_DATABASE_URL: await postgres.url('workers'), TALLY_DEVNET: 'off' })],
];

describe.each(databases)('two workers on %s', (_, database) => {
  let server: Served;
  let env: Env;
  beforeAll(async () => {
    env = {
      ...(await database()),
      TALLY_DATA_DIR: temporaryFolder(),
      TALLY_WORKERS: `${WORKERS}`,
      TALLY_LOG_LEVEL: 'info',
      TALLY_CONFIG: MODELS_FILE,
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'sk-operator',
    };
    server = await serve(env);
  });

  it('share one port, and the chain that the first process started', async () => {
    await untilAllServe(server.url);
    const workers = workersOf(server);
    expect(workers).toHaveLength(WORKERS);
    const guards = [server.pid, ...workers].flatMap((pid) =>
      childrenOf(pid).filter(({ command }) => command.includes('devnet-guard')),
    );
    expect(guards).toHaveLength(env['TALLY_DEVNET'] === 'off' ? 0 : 1);
    const leading = await until(
      () => metric(server.url, 'anchor_log_leading'),
      (count) => count > 0,
    );
    expect(leading).toBe(1);
  });

  it('count as one', async () => {
    const series = 'http_requests_total{route="/healthz",method="GET",status="200"}';
    await Promise.all(
      Array.from({ length: 40 }, () => fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })),
    );
    await expect.poll(() => metric(server.url, series)).toBe(40);
  });

  it('all reload', async () => {
    const { stdout } = await tally(['reload', '--json'], env);
    const reloaded = (JSON.parse(stdout) as { pid: number }[]).map(({ pid }) => pid);
    expect(new Set(reloaded)).toEqual(new Set(workersOf(server)));
  });

  it('go on when one is killed under load, which is replaced', async () => {
    const load = new Load(server.url);
    await load.more(50);
    const before = await metric(
      server.url,
      'http_requests_total{route="/v1/receipt/free",method="POST",status="200"}',
    );
    const [killed = 0] = workersOf(server);
    process.kill(killed, 'SIGKILL');
    await load.more(50);
    await untilAllServe(server.url);
    await load.more(50);
    await load.end();
    expect(load.refused).toBe(0);
    // Each caller has one request at a time, so the killed worker held no more than these.
    expect(load.broken.length).toBeLessThanOrEqual(CALLERS);
    expect(load.broken.map((error) => (error as Error).name)).not.toContain('TimeoutError');
    await load.acknowledged.expectKept(server.url);
    expect(workersOf(server)).not.toContain(killed);
    await expect.poll(() => metric(server.url, 'tally_worker_restarts_total')).toBe(1);
    const after = await metric(
      server.url,
      'http_requests_total{route="/v1/receipt/free",method="POST",status="200"}',
    );
    expect(after).toBeGreaterThan(before);
  });

  it('end in order, also when a supervisor signals all of them', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    upstream.play({ fault: { kind: 'held', until: answered } });
    const asked = upstream.requests.length;
    const call = post(`${server.url}/v1/compute/chat/completions`, {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'Say it.' }],
    });
    await expect.poll(() => upstream.requests.length).toBe(asked + 1);
    const workers = workersOf(server);
    for (const worker of workers) process.kill(worker, 'SIGTERM');
    const ended = server.kill('SIGTERM');
    await expect.poll(() => fetch(`${server.url}/healthz`).catch(() => 'closed')).toBe('closed');
    answer();
    expect(await call).toMatchObject({ status: 200 });
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.includes('"msg":"request"'));
    const named = new Set(lines.map((line) => (JSON.parse(line) as { worker: number }).worker));
    expect(named).toEqual(new Set([1, 2]));
    expect(workers.filter(lives)).toEqual([]);
  });
});

describe('workers', () => {
  const alone = { TALLY_DEVNET: 'off', TALLY_WORKERS: `${WORKERS}` };

  it('refuse requests until all are ready', async () => {
    const port = await freePort();
    const starting = serve({ ...alone, TALLY_DATA_DIR: temporaryFolder(), PORT: `${port}` });
    const url = `http://127.0.0.1:${port}`;
    const first = await vi.waitFor(() => fetch(`${url}/healthz`), { timeout: 120_000, interval: 20 });
    expect(first.status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), {
      timeout: 120_000,
      interval: 20,
    });
    await untilAllServe(url);
    await (await starting).kill('SIGTERM');
  });

  it('end together with the first process', async () => {
    const server = await serve({ ...alone, TALLY_DATA_DIR: temporaryFolder() });
    const workers = workersOf(server);
    await server.kill('SIGKILL');
    await vi.waitFor(() => expect(workers.filter(lives)).toEqual([]), { timeout: 60_000 });
  });

  it('say once why they cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await tally(['serve'], {
      ...alone,
      TALLY_DATA_DIR: temporaryFolder(),
      PORT: `${port}`,
    });
    taken.close();
    expect(code).toBe(1);
    expect(stderr.split(`Port ${port} on 127.0.0.1 is taken`)).toHaveLength(2);
  });

  it('share a Unix socket, with the mode that was asked for', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 's');
    const server = await serve({
      ...alone,
      TALLY_DATA_DIR: folder,
      HOST: `unix:${path}`,
      TALLY_SOCKET_MODE: '600',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const metrics = async () => {
      const asked = request({ socketPath: path, path: '/metrics' }).end();
      return text(await new Promise<NodeJS.ReadableStream>((resolve) => asked.once('response', resolve)));
    };
    await expect.poll(metrics).toContain(`tally_workers ${WORKERS}\n`);
    await server.kill('SIGTERM');
  });
});
