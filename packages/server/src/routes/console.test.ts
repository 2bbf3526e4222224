import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, startTestService, type TestService } from '../../test/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('GET /activity', () => {
  it('is a page that may load what is its own, and be framed by nobody', async () => {
    const { status, headers, text } = await service.get('/activity');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[\w+/]{43}='; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    const etag = headers.get('etag') ?? '';
    expect((await service.get('/activity', { 'if-none-match': etag })).status).toBe(304);
    expect(text).toContain('<div id="app">');
  });

  it.each(['/activity/call_1', '/sessions', '/sessions/any%20text'])('%s is the same page', async (path) => {
    const { status, text } = await service.get(path);
    expect([status, text]).toEqual([200, (await service.get('/activity')).text]);
  });

  it('names files that are there, may be kept for ever, and are of the types that browsers run', async () => {
    const { text } = await service.get('/activity');
    const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(4);
    for (const file of files) {
      const { status, headers } = await service.get(file, { 'accept-encoding': 'br, gzip' });
      expect(headers.get('content-encoding')).toBe(file.endsWith('.woff2') ? null : 'gzip');
      expect([file, status]).toEqual([file, 200]);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-type')).toMatch(
        /^(?:text\/(?:javascript|css|plain); charset=utf-8|font\/woff2)$/,
      );
      const plain = await service.get(file);
      expect(plain.headers.get('content-encoding')).toBeNull();
      const again = await service.get(file, { 'if-none-match': headers.get('etag') ?? '' });
      expect([again.status, again.text]).toEqual([304, '']);
    }
  });
});

describe('GET /docs', () => {
  it('runs only what this service serves, and may ask nobody else', async () => {
    const { status, headers, text } = await service.get('/docs');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[\w+/]{43}='; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(text).not.toMatch(/(?:href|src)="(?!\/|#|data:)/);
    const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(4);
    for (const file of files) expect([file, (await service.get(file)).status]).toEqual([file, 200]);
  });
});

it.each([
  ['/usage', '/activity'],
  ['/leaderboard', '/members'],
])('%s has moved to %s', async (from, to) => {
  const { status, headers } = await service.get(from);
  expect([status, headers.get('location')]).toEqual([308, to]);
});

it.each(['/keys', '/webhooks', '/balance', '/members'])('%s is the console', async (path) => {
  expect((await service.get(path)).text).toBe((await service.get('/activity')).text);
});

it.each(['/assets/none.js', '/assets/..%2fconsole.html', '/assets/.inputs'])(
  '%s is not there',
  async (path) => {
    expectProblem(await service.get(path), 'not_found');
  },
);

describe('an address where nothing is', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it('is a page for a browser', async () => {
    const { status, headers, text } = await service.get('/nowhere', { accept: BROWSER });
    expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([
      404,
      'text/html; charset=utf-8',
      'Accept',
    ]);
    expect(text).toContain('<div id="app">');
  });

  it.each([undefined, '*/*', 'application/json'])(
    'is a problem for a program that accepts %s',
    async (accept) => {
      expectProblem(await service.get('/nowhere', accept === undefined ? {} : { accept }), 'not_found');
    },
  );

  it('is a problem for whoever posts there', async () => {
    expectProblem(await service.post('/nowhere', {}, { accept: BROWSER }), 'not_found');
  });
});
