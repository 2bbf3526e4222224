import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Acknowledged } from '../acknowledged.ts';
import { residentMiB, type Served, serve, temporaryFolder } from '../process.ts';
import { MEMORY_MIB, readiness } from './load.ts';

const DRIBBLING = 800;
/** So that a test ends: in production a body has a minute. */
const WHOLE_MS = 4_000;

let service: Served;
/** What comes back on connections that send nothing, and half a head. It takes the service some 20 s to end them. */
let unused: Promise<string>;
let half: Promise<string>;
beforeAll(async () => {
  service = await serve({
    TALLY_DATA_DIR: temporaryFolder(),
    TALLY_DEVNET: 'off',
    TALLY_LOG_LEVEL: 'info',
    TALLY_BODY_STALL_MS: '3000',
    TALLY_BODY_TIMEOUT_MS: String(WHOLE_MS),
    TALLY_STREAM_BODY_TIMEOUT_MS: String(WHOLE_MS),
  });
  const port = Number(new URL(service.url).port);
  unused = text(connect(port, '127.0.0.1'));
  const begun = connect(port, '127.0.0.1');
  begun.write('GET / HTTP/1.1\r\nHost:');
  half = text(begun);
});
afterAll(() => service.kill('SIGTERM'));

/** Begins a request whose body is never sent as a whole. @param headers more of them */
function begin(path: string, type: string, ...headers: string[]): Socket {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setNoDelay();
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Content-Type: ${type}`,
    'Content-Length: 1000',
    ...headers,
    '',
    '{',
  ];
  socket.on('error', () => {}).write(lines.join('\r\n'));
  return socket;
}

const PATHS: readonly [string, string][] = [
  ['/v1/receipt/free', 'application/json'],
  ['/v1/compute/chat/completions', 'application/json'],
  ['/v1/receipt/metering', 'application/x-ndjson'],
];

describe('bodies that do not come', () => {
  it.each(PATHS)('a body that stalls is told 408: %s', async (path, type) => {
    const answer = await text(begin(path, type));
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/"code":"request_timeout"/);
  });

  it(`${DRIBBLING} connections that dribble are told 408, and others are answered meanwhile`, async () => {
    const sockets = Array.from({ length: DRIBBLING }, (_, number) =>
      begin(...(PATHS[number % 3] ?? PATHS[0]!)),
    );
    const acknowledged = new Acknowledged('dribbling');
    const open = new Set(sockets);
    const answers = Promise.all(
      sockets.map(async (socket) => {
        const answer = await text(socket);
        open.delete(socket);
        return answer;
      }),
    );
    while (open.size > 0) {
      for (const socket of open) if (socket.writable) socket.write(' ');
      expect(await acknowledged.mint(service.url)).toBe(200);
      expect(await readiness(service.url)).toBe(200);
      await setTimeout(200);
    }
    for (const answer of await answers)
      expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
    await acknowledged.expectKept(service.url);
    expect(residentMiB(service.pid)).toBeLessThan(MEMORY_MIB);
  });
});

describe('a process that stood still longer than a body may take', () => {
  it.each(PATHS)('reads what has come meanwhile: %s', async (path, type) => {
    const socket = begin(path, type, 'Connection: close', 'Expect: 100-continue');
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 100 /);
    process.kill(service.pid, 'SIGSTOP');
    socket.write(' '.repeat(999));
    await setTimeout(WHOLE_MS + 500);
    process.kill(service.pid, 'SIGCONT');
    // It is no JSON, which only somebody can tell who has read it.
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4(?!08)/);
  });
});

describe('requests that do not come', () => {
  it('are told 408 if they have begun', async () => {
    expect(await half).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
  });

  it('are told nothing if they have not, since the answer could be taken for that to a later one', async () => {
    expect(await unused).toBe('');
  });
});

describe('clients that hang up in the middle of their body', () => {
  it('are no fault, and do not fill the log', async () => {
    const hangUps = 500;
    const metric = async (): Promise<number> => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).not.toMatch(/^http_requests_total\{[^}]*status="5/m);
      const counted =
        /^http_requests_total\{route="\/v1\/receipt\/free",method="POST",status="499"\} (\d+)$/m;
      return Number(counted.exec(metrics)?.[1] ?? 0);
    };
    for (let i = 0; i < hangUps; i++) begin('/v1/receipt/free', 'application/json').end();
    await expect.poll(metric).toBe(hangUps);
    const { code, stderr } = await service.kill('SIGTERM');
    expect(code).toBe(0);
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; status?: number });
    expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
    expect(lines.filter(({ status }) => status === 499).length).toBeLessThan(100);
  });
});
