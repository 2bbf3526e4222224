import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { FetchLimits } from './exchange.ts';
import type { FetchFault, GuardedFetchError } from './failure.ts';
import { createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';
import type { Resolve } from './pin.ts';
import { type GuardPolicy, guardPolicy } from './policy.ts';

const development = guardPolicy({ mode: 'development' });
const production = guardPolicy({ mode: 'production' });
/** 127.0.0.1 stands for a public address and every other one for a private one. */
const onlyFirst: GuardPolicy = { secure: () => false, plain: (address) => address === '127.0.0.1' };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function bound(server: Server | TcpServer, host: string, port: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, host, () => resolve());
  await promise;
  return (server.address() as AddressInfo).port;
}

/** Serves on loopback. @returns the port */
async function serve(listener: RequestListener, { host = '127.0.0.1', port = 0 } = {}): Promise<number> {
  const server = createServer(listener);
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return bound(server, host, port);
}

const fetchWith = (
  options: { policy?: GuardPolicy; limits?: Partial<FetchLimits>; resolve?: Resolve } = {},
): GuardedFetch => createGuardedFetch({ policy: development, ...options });

async function faultOf(work: Promise<unknown>): Promise<GuardedFetchError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: 'GuardedFetchError' });
  return error as GuardedFetchError;
}

describe('which URLs are called', () => {
  const never: Resolve = () => Promise.reject(new Error('asked'));

  it.each<[string, FetchFault]>([
    ['http://example.com/', 'url'],
    ['https://example.com:8443/', 'url'],
    ['https://user:pass@example.com/', 'url'],
    ['file:///etc/passwd', 'url'],
    ['gopher://example.com/', 'url'],
    ['nothing', 'url'],
    ['https://127.0.0.1/', 'address'],
    ['https://127.1/', 'address'],
    ['https://2130706433/', 'address'],
    ['https://0x7f000001/', 'address'],
    ['https://0177.0.0.1/', 'address'],
    ['https://%31%32%37.0.0.1/', 'address'],
    ['https://１２７.0.0.1/', 'address'],
    ['https://169.254.169.254/latest/meta-data/', 'address'],
    ['https://[::1]/', 'address'],
    ['https://[::ffff:127.0.0.1]/', 'address'],
    ['https://[fd00:ec2::254]/', 'address'],
    ['https://10.0.0.1:80/', 'address'],
    ['https://example.com/', 'dns'],
  ])('in production %s is a fault of the %s', async (url, fault) => {
    expect((await faultOf(fetchWith({ policy: production, resolve: never })(url))).fault).toBe(fault);
  });

  it.each<[string, string[], FetchFault]>([
    ['one private address among public ones', ['93.184.215.14', '10.0.0.1'], 'address'],
    ['one loopback address behind', ['93.184.215.14', '::1'], 'address'],
    ['a mapped one', ['::ffff:93.184.215.14'], 'address'],
    ['no address', [], 'dns'],
  ])('a name with %s is not called', async (_, addresses, fault) => {
    const asked = fetchWith({ policy: production, resolve: async () => addresses });
    expect((await faultOf(asked('https://example.com/'))).fault).toBe(fault);
  });

  it('in development plain http goes to this machine and nowhere else', async () => {
    const port = await serve((_, response) => response.end('here'));
    const { body, tls } = await fetchWith()(`http://127.0.0.1:${port}/`);
    expect([Buffer.from(body).toString(), tls]).toEqual(['here', null]);
    expect((await fetchWith()(`http://localhost:${port}/`)).status).toBe(200);
    for (const address of ['10.0.0.1', '93.184.215.14', '169.254.169.254']) {
      const asked = fetchWith({ resolve: async () => [address] });
      expect((await faultOf(asked(`http://example.com:${port}/`))).fault).toBe('address');
    }
  });

  it.each(['https://localhost/', 'https://LOCALHOST./', 'https://a.localhost/'])(
    'in production %s is this machine, whatever a name server says',
    async (url) => {
      expect((await faultOf(fetchWith({ policy: production })(url))).fault).toBe('address');
    },
  );

  it('messages name no address', async () => {
    const asked = fetchWith({ policy: production, resolve: async () => ['10.11.12.13'] });
    expect((await faultOf(asked('https://internal.example.com/'))).message).not.toMatch(/\d/);
  });
});

describe('rebinding', () => {
  it('the connection goes to the address that was checked, and the name is asked once', async () => {
    let inner = 0;
    const port = await serve((_, response) => response.end('outer'));
    await serve(
      (_, response) => {
        inner += 1;
        response.end('inner');
      },
      { host: '127.0.0.2', port },
    );
    const asked: string[] = [];
    const resolve: Resolve = async (name) => [asked.push(name) === 1 ? '127.0.0.1' : '127.0.0.2'];
    const { body } = await fetchWith({ policy: onlyFirst, resolve })(`http://rebound.example:${port}/`);
    expect(Buffer.from(body).toString()).toBe('outer');
    expect([asked, inner]).toEqual([['rebound.example'], 0]);
  });

  it('each redirect is resolved and checked anew', async () => {
    let inner = 0;
    const port = await serve((request, response) => {
      if (request.url === '/end') return response.end('outer');
      response.writeHead(302, { location: '/end' }).end();
    });
    await serve(() => (inner += 1), { host: '127.0.0.2', port });
    let asked = 0;
    const resolve: Resolve = async () => [++asked === 1 ? '127.0.0.1' : '127.0.0.2'];
    const error = await faultOf(fetchWith({ policy: onlyFirst, resolve })(`http://rebound.example:${port}/`));
    expect([error.fault, asked, inner]).toEqual(['address', 2, 0]);
  });
});

describe('redirects', () => {
  it.each([
    ['http://10.0.0.1/', 'redirect'],
    ['http://169.254.169.254/latest/meta-data/', 'redirect'],
    ['//127.0.0.2/', 'redirect'],
    ['http://127.0.0.1:1/', 'redirect'],
    ['file:///etc/passwd', 'redirect'],
    ['http://[', 'redirect'],
    ['/again', 'redirect'],
  ])('to %s is a fault of the %s', async (location, fault) => {
    const port = await serve((_, response) => response.writeHead(302, { location }).end());
    expect((await faultOf(fetchWith()(`http://127.0.0.1:${port}/`))).fault).toBe(fault);
  });

  it('within the origin are followed; the answer says where it came from', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/b') return response.end('b');
      response.writeHead(301, { location: '/b' }).end();
    });
    const { url, status } = await fetchWith()(`http://127.0.0.1:${port}/a`);
    expect([url, status]).toEqual([`http://127.0.0.1:${port}/b`, 200]);
  });

  it('of a POST are an answer like any other', async () => {
    const port = await serve((_, response) =>
      response.writeHead(307, { location: 'http://10.0.0.1/' }).end(),
    );
    const { status } = await fetchWith()(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' });
    expect(status).toBe(307);
  });
});

describe('limits', () => {
  const fetchFrom = async (
    listener: RequestListener,
    limits: Partial<FetchLimits>,
  ): Promise<GuardedFetchError> => {
    const port = await serve(listener);
    return faultOf(fetchWith({ limits })(`http://127.0.0.1:${port}/`));
  };
  const patient = { totalMs: 20_000, headMs: 20_000, drip: { windowMs: 20_000, bytes: 1 } };

  it('a body of 1 GB is left after its first bytes, declared or not', async () => {
    const block = Buffer.alloc(65_536);
    const bodyBytes = 300_000;
    let sent = 0;
    const endless: RequestListener = (_, response) => {
      const more = (): void => {
        while (sent < 2 ** 30 && response.write(block)) sent += block.length;
      };
      response.on('drain', more);
      more();
    };
    const before = process.memoryUsage().arrayBuffers;
    const error = await fetchFrom(endless, { ...patient, bodyBytes });
    expect(error.fault).toBe('body_too_large');
    expect(error.received).toBeGreaterThan(bodyBytes);
    expect(error.received).toBeLessThanOrEqual(bodyBytes + block.length);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 2 ** 20);
    expect(sent).toBeLessThan(64 * 2 ** 20);

    const declared = await fetchFrom(
      (_, response) => response.writeHead(200, { 'content-length': String(2 ** 30) }).write(block),
      { ...patient, bodyBytes },
    );
    expect([declared.fault, declared.received]).toEqual(['body_too_large', 0]);
  });

  it('a body of exactly the limit passes, and a byte more does not', async () => {
    const port = await serve((request, response) =>
      response.end(Buffer.alloc(Number(request.url?.slice(1)))),
    );
    const asked = fetchWith({ limits: { ...patient, bodyBytes: 1000 } });
    expect((await asked(`http://127.0.0.1:${port}/1000`)).body.length).toBe(1000);
    expect((await faultOf(asked(`http://127.0.0.1:${port}/1001`))).fault).toBe('body_too_large');
  });

  it('a compressed body, be it a bomb, is not opened', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 2 ** 20));
    const error = await fetchFrom(
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      patient,
    );
    expect([error.fault, error.received]).toEqual(['encoded', 0]);
  });

  it('a body that drips is left', async () => {
    const error = await fetchFrom(
      (_, response) => {
        const drip = setInterval(() => response.write('x'), 5);
        response.on('close', () => clearInterval(drip));
      },
      { ...patient, drip: { windowMs: 60, bytes: 100 } },
    );
    expect(error.fault).toBe('slow');
    expect(error.received).toBeLessThan(100);
  });

  it('a head that never comes, or drips, is left', async () => {
    expect((await fetchFrom(() => {}, { ...patient, headMs: 40 })).fault).toBe('slow');
    const server = createTcpServer((socket) => {
      socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    closing.push(() => server.close());
    const port = await bound(server, '127.0.0.1', 0);
    const asked = fetchWith({ limits: { ...patient, headMs: 60 } });
    expect((await faultOf(asked(`http://127.0.0.1:${port}/`))).fault).toBe('slow');
  });

  it('the whole has a limit, whatever comes, and so has the resolver', async () => {
    const flow: RequestListener = (_, response) => {
      const drip = setInterval(() => response.write('x'.repeat(50)), 5);
      response.on('close', () => clearInterval(drip));
    };
    expect((await fetchFrom(flow, { ...patient, totalMs: 60 })).fault).toBe('timeout');
    const stuck = fetchWith({ limits: { totalMs: 30 }, resolve: () => new Promise(() => {}) });
    expect((await faultOf(stuck('https://example.com/'))).fault).toBe('timeout');
  });

  it('a head that is too large, and one that is none', async () => {
    const long = await fetchFrom(
      (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(),
      patient,
    );
    expect(long.fault).toBe('headers_too_large');
    const server = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'));
    closing.push(() => server.close());
    const port = await bound(server, '127.0.0.1', 0);
    expect((await faultOf(fetchWith()(`http://127.0.0.1:${port}/`))).fault).toBe('cut');
  });

  it('an answer that is cut short, and nobody there', async () => {
    const cut = await fetchFrom((_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('12345', () => response.destroy());
    }, patient);
    expect(cut.fault).toBe('cut');
    const port = await serve(() => {});
    for (const close of closing.splice(0)) close();
    expect((await faultOf(fetchWith()(`http://127.0.0.1:${port}/`))).fault).toBe('connect');
  });

  it('whoever asked can call it off', async () => {
    const called = new AbortController();
    const port = await serve(() => called.abort());
    const asked = fetchWith()(`http://127.0.0.1:${port}/`, { signal: called.signal });
    expect((await faultOf(asked)).fault).toBe('aborted');
    const before = fetchWith()(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort() });
    expect((await faultOf(before)).fault).toBe('aborted');
  });
});

it('sends method, headers and body, and its own Host', async () => {
  const port = await serve((request, response) => {
    const { host, 'x-a': a, 'accept-encoding': encoding, 'content-length': length } = request.headers;
    void text(request).then((sent) =>
      response.end(JSON.stringify([request.method, host, a, encoding, length, sent])),
    );
  });
  const { body } = await fetchWith({ resolve: async () => ['127.0.0.1'] })(`http://a.example:${port}/x`, {
    method: 'POST',
    headers: { 'x-a': '1' },
    body: 'é',
  });
  expect(JSON.parse(Buffer.from(body).toString())).toEqual([
    'POST',
    `a.example:${port}`,
    '1',
    'identity',
    '2',
    'é',
  ]);
});
