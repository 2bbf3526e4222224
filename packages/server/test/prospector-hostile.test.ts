import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../kit/src/guarded/guarded-fetch.ts';
import { guardPolicy } from '../../kit/src/guarded/policy.ts';
import { qualify } from '../src/pilots/prospector/qualify.ts';
import type { Report } from '../src/pilots/prospector/report.ts';

const policy = guardPolicy({ mode: 'development' });
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    listener(request, response);
  });
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', () => resolve());
  await promise;
  return { port: (server.address() as AddressInfo).port, seen };
}

interface CheckOptions {
  readonly resolve?: () => Promise<string[]>;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly drip?: { readonly windowMs: number; readonly bytes: number };
}

function check(origin: string, options: CheckOptions = {}): Promise<Report> {
  const { resolve, signal = new AbortController().signal, deadlineMs = 20_000 } = options;
  const { drip = { windowMs: 20_000, bytes: 1 } } = options;
  const limits = { totalMs: 20_000, headMs: 20_000, drip, bodyBytes: 300_000 };
  const fetch = createGuardedFetch({ policy, limits, ...(resolve === undefined ? {} : { resolve }) });
  return qualify({ origin, descriptor: null }, { fetch, now: Date.now(), signal, deadlineMs });
}

const codes = ({ findings }: Report): string[] => findings.map(({ code }) => code);

describe('a server that means harm is left after three tries', () => {
  const block = Buffer.alloc(65_536, 'a');
  let sent = 0;
  const HOSTILE: readonly (readonly [string, string, RequestListener])[] = [
    [
      'redirects to a private address',
      'redirects_away',
      (_, response) =>
        void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    ],
    [
      'redirects to another port of the same machine',
      'redirects_away',
      (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    [
      'redirects for ever',
      'redirects_away',
      (_, response) => void response.writeHead(302, { location: `/${Math.random()}` }).end(),
    ],
    [
      'drips a byte now and then',
      'answer_too_slow',
      (_, response) => {
        const drip = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(drip));
      },
    ],
    [
      'returns 1 GB',
      'answer_too_large',
      (_, response) => {
        let left = 2 ** 30;
        const more = (): void => {
          while (left > 0 && response.write(block)) {
            left -= block.length;
            sent += block.length;
          }
        };
        response.on('drain', more);
        more();
      },
    ],
    [
      'says it returns 1 GB',
      'answer_too_large',
      (_, response) => void response.writeHead(200, { 'content-length': String(2 ** 30) }).write(block),
    ],
    [
      'returns a bomb',
      'answer_encoded',
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(block),
    ],
    [
      'has endless headers',
      'answer_too_large',
      (_, response) => void response.writeHead(200, { 'x-long': 'x'.repeat(30_000) }).end(),
    ],
    ['hangs up', 'unreachable', (_, response) => void response.destroy()],
  ];

  it.each(HOSTILE)('%s: %s', async (_, code, listener) => {
    sent = 0;
    const before = process.memoryUsage().arrayBuffers;
    const { port, seen } = await serve(listener);
    const drip = code === 'answer_too_slow' ? { drip: { windowMs: 60, bytes: 40 } } : {};
    const found = await check(`http://127.0.0.1:${port}`, drip);
    expect(codes(found)).toEqual([code]);
    const looked = found.areas.filter(({ state }) => state !== 'not_checked');
    expect(looked.map(({ area }) => area)).toEqual(['transport']);
    expect(found.verdict).not.toBe('ready');
    expect(seen.length).toBeLessThanOrEqual(9);
    expect(sent).toBeLessThan(128 * 2 ** 20);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
  });
});

it('a name that is bound to a private address in the midst is never called there', async () => {
  const { port, seen } = await serve((_, response) => response.writeHead(404).end());
  let asked = 0;
  const resolve = async () => [++asked <= 2 ? '127.0.0.1' : '10.0.0.1'];
  const found = await check(`http://rebound.example:${port}`, { resolve });
  expect(codes(found)).toContain('address_refused');
  expect(seen.length).toBe(2);
  expect(asked).toBe(5);
});

it.each([
  'http://10.0.0.1',
  'http://169.254.169.254',
  'http://[fd00::1]',
  'http://[::ffff:127.0.0.1]',
  'http://example.com',
])('%s is refused as the caller’s mistake', async (origin) => {
  const resolve = async () => ['192.168.0.1'];
  await expect(check(origin, { resolve })).rejects.toMatchObject({ code: 'invalid_field', field: 'origin' });
});

it('nobody there is a finding', async () => {
  const { port } = await serve(() => {});
  for (const close of closing.splice(0)) close();
  const found = await check(`http://127.0.0.1:${port}`);
  expect(codes(found)).toEqual(['unreachable']);
  expect(found).toMatchObject({ score: 0, verdict: 'not_ready', coverage: 15 });
});

describe('time', () => {
  it('a server that never answers is waited for until the deadline, and the report says so', async () => {
    const { port } = await serve(() => {});
    const found = await check(`http://127.0.0.1:${port}`, { deadlineMs: 60 });
    expect(found).toMatchObject({ complete: false, verdict: 'gaps', coverage: 0, score: 0, findings: [] });
  });

  it('nothing more is sent once the caller has left', async () => {
    const left = new AbortController();
    const { port, seen } = await serve((_, response) => {
      left.abort();
      response.end('{}');
    });
    expect((await check(`http://127.0.0.1:${port}`, { signal: left.signal })).complete).toBe(false);
    expect(seen.length).toBe(1);
  });
});
