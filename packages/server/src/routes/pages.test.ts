import { errorTable, type JsonObject, parseJson, utf8 } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFrame } from '../../test/frame.ts';
import { startTestService, type TestService } from '../../test/service.ts';
import { createApi } from '../http/api.ts';
import { pageRoutes } from './pages.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const blockOf = (html: string): string | undefined =>
  /<script type="application\/json" id="site-trust">(.*?)<\/script>/s.exec(html)?.[1];

describe('GET /verify', () => {
  it('is one page whose header repeats the policy that it states of itself', async () => {
    const { status, headers, text } = await service.get('/verify');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; script-src(?: 'sha256-[\w+/]{43}='){4}; style-src 'sha256-[\w+/]{43}='; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'$/,
    );
    expect(text).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
    expect(headers.get('x-frame-options')).toBe('DENY');
  });

  it('holds the newest trust bundle as data', async () => {
    const { text } = await service.get('/verify');
    const embedded = parseJson(utf8(blockOf(text) ?? '')) as JsonObject;
    expect(embedded).toEqual({
      site: service.config.siteUrl,
      bundle: (await service.get('/.well-known/trust.json')).json,
    });
  });

  it('answers 304 to the tag that it gave, and to no other', async () => {
    const { headers } = await service.get('/verify');
    const etag = headers.get('etag') ?? '';
    const conditional = async (value: string) => service.get('/verify', { 'if-none-match': value });
    const unchanged = await conditional(`"other", W/${etag}`);
    expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await conditional('"other"')).status).toBe(200);
  });

  it('answers to HEAD without the page', async () => {
    const url = await service.listen();
    const response = await fetch(`${url}/verify`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('etag')).toBe((await service.get('/verify')).headers.get('etag'));
  });

  it('follows the bundle, and nothing in a bundle can end the block that it stands in', async () => {
    let text: string | null = null;
    const trust = { bundle: () => (text === null ? null : ({ text } as never)) };
    const api = createApi(testFrame());
    api.add(...pageRoutes({ config: { siteUrl: 'https://site.test', receiptsUrl: '', apiUrl: '' }, trust }));
    const page = async () => (await api.app.request('/verify')).text();
    expect(blockOf(await page())).toBe('null');
    text = '{"note":"</script><script>alert(1)</script> $& $1"}';
    const html = await page();
    expect(parseJson(utf8(blockOf(html) ?? ''))).toEqual({
      site: 'https://site.test',
      bundle: JSON.parse(text),
    });
    expect(html.match(/<script/g)).toHaveLength(7);
  });
});

const PAGES = ['/', '/verify', '/evidence', '/benchmark', '/docs/errors'];

describe.each(PAGES)('the page at %s', (path) => {
  it('states of itself the policy of its header, and is not framed', async () => {
    const { status, headers, text } = await service.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(text).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
    expect(headers.get('x-frame-options')).toBe('DENY');
    const again = await service.get(path, { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(text).toContain(`<meta property="og:image" content="${service.config.siteUrl}/social.png">`);
  });
});

describe('GET /docs/errors', () => {
  it('has every code once, and nothing else', async () => {
    const { text } = await service.get('/docs/errors');
    const anchors = [...text.matchAll(/<div class="error" id="(\w+)">/g)].map(([, id]) => String(id));
    expect(anchors.toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });
});

describe('GET /', () => {
  const typeAt = async (accept: string): Promise<string | null> =>
    (await service.get('/', { accept })).headers.get('content-type');

  it.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['*/*', 'text/html; charset=utf-8'],
    ['application/json, text/html', 'text/html; charset=utf-8'],
    ['application/json', 'application/json'],
    ['Application/JSON;q=0.9, text/plain', 'application/json'],
  ])('answers to Accept: %s with %s', async (accept, type) => {
    expect(await typeAt(accept)).toBe(type);
  });

  it('tells caches what it goes by, and programs where everything is', async () => {
    const { json, headers } = await service.get('/', { accept: 'application/json' });
    expect(headers.get('vary')).toContain('Accept');
    expect((await service.get('/')).headers.get('vary')).toContain('Accept');
    const { receiptsUrl } = service.config;
    const { openapi, trust, log } = json.endpoints as Record<string, string>;
    for (const url of [openapi, trust, log]) {
      expect(url?.startsWith(receiptsUrl), url).toBe(true);
      expect((await service.get(url?.slice(receiptsUrl.length) ?? '')).status, url).toBe(200);
    }
  });
});

describe('GET /benchmark', () => {
  it('is a page that may ask this service, and nobody else', async () => {
    const { status, headers, text } = await service.get('/benchmark');
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; script-src(?: 'sha256-[\w+/]{43}='){2}; style-src 'sha256-[\w+/]{43}='; font-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'$/,
    );
    expect(text).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
    expect(headers.get('x-frame-options')).toBe('DENY');
  });

  it('holds the newest trust bundle as data, and answers 304 to its own tag', async () => {
    const { text, headers } = await service.get('/benchmark');
    const embedded = parseJson(utf8(blockOf(text) ?? '')) as JsonObject;
    expect(embedded.bundle).toEqual((await service.get('/.well-known/trust.json')).json);
    const again = await service.get('/benchmark', { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it.each(['/verify', '/docs', '/docs/errors'])('is linked from %s', async (path) => {
    expect((await service.get(path)).text).toContain('<a href="/benchmark">Benchmark</a>');
  });
});
