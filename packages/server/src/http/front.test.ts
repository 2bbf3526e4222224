import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Listening, listen } from '../app/listen.ts';
import { Finished } from './answered.ts';
import { type App, Front } from './front.ts';

const counted: number[] = [];
let server: Listening;
beforeAll(async () => {
  server = await listen({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 50,
    receiptsUrl: () => 'https://receipts.test',
    open: async () => ({
      fetch: async (request, { incoming }) =>
        new Finished(
          200,
          {},
          request.url.endsWith('/early') ? 'early' : `${request.url} ${await text(incoming)}`,
        ),
      counted: (status) => counted.push(status),
      close: async () => {},
    }),
  });
});
afterAll(() => server.close());

/** Everything that comes back on one connection, until the other end closes it. */
async function exchange(...lines: string[]): Promise<string> {
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write([...lines, '', ''].join('\r\n'));
  return text(socket);
}

function expectProblem(answer: string, status: number, code: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/^content-type: application\/problem\+json$/m);
  expect(head).toMatch(/^access-control-allow-origin: \*$/m);
  const id = /^x-request-id: (\S+)\r?$/m.exec(head)?.[1];
  expect(JSON.parse(body)).toMatchObject({
    type: `https://receipts.test/docs/errors#${code}`,
    status,
    code,
    instance: `urn:request:${id}`,
  });
}

describe('what is refused before the app is asked has a problem document', () => {
  it.each<[string, string[], number, string]>([
    ['two Host headers', ['GET / HTTP/1.1', 'Host: a', 'Host: b'], 400, 'request_malformed'],
    ['two Host headers of HTTP/1.0', ['GET / HTTP/1.0', 'Host: a', 'HOST: a'], 400, 'request_malformed'],
    ['no Host', ['GET / HTTP/1.1'], 400, 'request_malformed'],
    [
      'two Authorization headers',
      ['GET / HTTP/1.1', 'Host: a', 'Authorization: Bearer a', 'authorization: Bearer b'],
      400,
      'request_malformed',
    ],
    ['a Host that is none', ['GET / HTTP/1.1', 'Host: a b'], 400, 'request_malformed'],
    ['a Host with a user', ['GET / HTTP/1.1', 'Host: u@a'], 400, 'request_malformed'],
    ['a Host with a path', ['GET / HTTP/1.1', 'Host: a/b'], 400, 'request_malformed'],
    ['a Host with a port that is none', ['GET / HTTP/1.1', 'Host: a:99999'], 400, 'request_malformed'],
    ['an absolute target without a host', ['GET http:// HTTP/1.1', 'Host: a'], 400, 'request_malformed'],
    ['a backslash', ['GET /a\\b HTTP/1.1', 'Host: a'], 400, 'request_malformed'],
    ['no request target', ['GET * HTTP/1.1', 'Host: a'], 400, 'request_malformed'],
    ['another expectation', ['GET / HTTP/1.1', 'Host: a', 'Expect: 200-maybe'], 417, 'expectation_failed'],
    ['no HTTP', ['hello'], 400, 'request_malformed'],
    ['a header without a name', ['GET / HTTP/1.1', ': a'], 400, 'request_malformed'],
    [
      'two lengths',
      ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Content-Length: 2'],
      400,
      'request_malformed',
    ],
    ...['gzip, chunked', 'x, chunked', 'chunked, chunked', 'identity'].map(
      (coding): [string, string[], number, string] => [
        `the transfer coding ${coding}`,
        ['POST / HTTP/1.1', 'Host: a', `Transfer-Encoding: ${coding}`, '', '0', ''],
        400,
        'request_malformed',
      ],
    ),
    [
      'a transfer coding of HTTP/1.0',
      ['POST / HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked', '', '0', ''],
      400,
      'request_malformed',
    ],
    ['a tunnel', ['CONNECT a:443 HTTP/1.1', 'Host: a'], 405, 'method_not_allowed'],
    ['headers that are too large', ['GET / HTTP/1.1', `A: ${'x'.repeat(20_000)}`], 431, 'headers_too_large'],
  ])('%s', async (_, lines, status, code) => {
    counted.length = 0;
    expectProblem(await exchange(...lines), status, code);
    expect(counted).toEqual([status]);
  });

  it('keeps the request id that the caller gave', async () => {
    expect(await exchange('GET / HTTP/1.1', 'X-Request-Id: mine')).toMatch(/^x-request-id: mine\r$/m);
  });
});

describe('a body that is answered before it has come', () => {
  afterEach(() => vi.useRealTimers());

  /** A connection on which an answer came before the second half of the body, and what comes on it. */
  async function answeredEarly() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const socket = connect(server.address.port, '127.0.0.1');
    const come = text(socket);
    socket.write('POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc');
    // The time for the rest begins when the answer has been sent.
    for (let turn = 0; vi.getTimerCount() === 0 && turn < 100_000; turn += 1) await setImmediate();
    return { socket, come };
  }

  it('may come late, and the connection serves the next request', async () => {
    const { socket, come } = await answeredEarly();
    vi.advanceTimersByTime(4_900);
    socket.write('def');
    socket.write('GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await come).toMatch(/early[^]*HTTP\/1\.1 200 [^]*\/next $/);
  });

  it('is not waited for when nothing comes for five seconds', async () => {
    const { come } = await answeredEarly();
    vi.advanceTimersByTime(5_000);
    expect(await come).toMatch(/early$/);
  });
});

describe('a connection on which no byte moves', () => {
  /** A connection to a front that looks after it every few milliseconds, once its request is sent. */
  async function asked(front: Front, app: App) {
    front.app = app;
    front.phase = 'open';
    expect(front.server.timeout).toBe(60_000);
    front.server.timeout = 20;
    front.server.listen(0, '127.0.0.1');
    onTestFinished(() => void front.server.close());
    await once(front.server, 'listening');
    const socket = connect((front.server.address() as AddressInfo).port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    return socket;
  }
  const options = { maxConnections: 10, dialects: [], requestMs: 60_000 };

  it('is ended where its client takes nothing of the answer', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const socket = await asked(new Front(options), {
      fetch: (_, { outgoing }) => {
        outgoing.once('close', resolve);
        return new Finished(200, {}, 'x'.repeat(64 * 1024 * 1024));
      },
    });
    socket.pause();
    await closed;
    expect(socket.bytesRead).toBeLessThan(64 * 1024 * 1024);
  });

  it('stays where it is the service that takes its time', async () => {
    const socket = await asked(new Front(options), {
      fetch: async (_, { incoming }) => {
        await once(incoming.socket, 'timeout');
        return new Finished(200, {}, 'late');
      },
    });
    expect(await text(socket)).toMatch(/late$/);
  });
});

describe('what is no fault is answered', () => {
  it.each(['chunked', 'Chunked'])('the transfer coding %s', async (coding) => {
    const head = ['POST / HTTP/1.1', 'Host: a', `Transfer-Encoding: ${coding}`, 'Connection: close'];
    expect(await exchange(...head, '', '2', 'ab', '0')).toMatch(/^HTTP\/1\.1 200 [^]* ab$/);
  });

  it('HTTP/1.0 without Host', async () => {
    expect(await exchange('GET /healthz HTTP/1.0')).toMatch(
      /^HTTP\/1\.1 200 [^]*http:\/\/localhost\/healthz $/,
    );
  });

  it('OPTIONS *', async () => {
    const answer = await exchange('OPTIONS * HTTP/1.1', 'Host: a');
    expect(answer).toMatch(/^HTTP\/1\.1 204 /);
    expect(answer).toMatch(/^allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r$/m);
    expect(answer).toMatch(/^x-request-id: \S+\r$/m);
  });
});

it('connections beyond the limit are told so, and make room', async () => {
  const idle = Array.from({ length: 50 }, () => connect(server.address.port, '127.0.0.1'));
  await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  const answer = await exchange('GET / HTTP/1.1', 'Host: a');
  expectProblem(answer, 503, 'unavailable');
  expect(answer).toMatch(/^retry-after: 5\r$/m);
  expectProblem(await exchange('GET // HTTP/1.1', 'Host: a'), 503, 'unavailable');
  expect(await exchange('GET /healthz HTTP/1.1', 'Host: a')).toMatch(
    /^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/,
  );
  expect(await exchange('GET /readyz HTTP/1.1', 'Host: a')).toMatch(/^HTTP\/1\.1 503 [^]*"at its limit/);
  for (const target of ['//', 'http://[', 'http://a:b/']) {
    expectProblem(await exchange(`GET ${target} HTTP/1.1`, 'Host: a'), 503, 'unavailable');
  }
  const closed = idle.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  for (const socket of idle) socket.destroy();
  await Promise.all(closed);
  await expect
    .poll(() => exchange('GET / HTTP/1.1', 'Host: a', 'Connection: close'))
    .toMatch(/^HTTP\/1\.1 200 /);
});
