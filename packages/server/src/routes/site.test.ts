import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, startTestService, type TestService, testClock } from '../../test/service.ts';

const SECOND = 1_793_000_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    clock: testClock(SECOND * 1000),
    env: { TALLY_SECURITY_CONTACT: 'mailto:security@acme.test,https://acme.test/security' },
  });
});
afterAll(() => service.close());

const read = async (path: string): Promise<string> => (await service.get(path)).text;

describe('pictures', () => {
  it.each([
    ['/favicon.ico', 'image/x-icon', '00000100'],
    ['/favicon.svg', 'image/svg+xml', Buffer.from('<svg').toString('hex')],
    ['/social.png', 'image/png', '89504e47'],
  ])('%s is %s', async (path, type, start) => {
    const answer = await fetch(`${await service.listen()}${path}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(Buffer.from(await answer.arrayBuffer()).toString('hex', 0, 4)).toBe(start);
  });
});

describe('/sitemap.xml', () => {
  it('names the pages by their public addresses, each of which is there', async () => {
    const { siteUrl } = service.config;
    expect(await read('/robots.txt')).toContain(`\nSitemap: ${siteUrl}/sitemap.xml\n`);
    const addresses = [...(await read('/sitemap.xml')).matchAll(/<loc>(.*?)<\/loc>/g)].map(
      ([, url = '']) => url,
    );
    expect(addresses).toEqual(
      expect.arrayContaining([`${siteUrl}/`, `${siteUrl}/verify`, `${siteUrl}/docs`]),
    );
    for (const url of addresses) {
      const { status, headers } = await service.get(url.slice(siteUrl.length), { accept: 'text/html' });
      expect([url, status, headers.get('content-type')]).toEqual([url, 200, 'text/html; charset=utf-8']);
    }
  });
});

it('/llms.txt names only what is there', async () => {
  const text = await read('/llms.txt');
  expect(text).toMatch(/^# Tallystick\n\n> /);
  const { receiptsUrl } = service.config;
  const links = [...text.matchAll(/\]\((.*?)\)/g)].map(([, url = '']) => url);
  expect(links.length).toBeGreaterThan(8);
  for (const url of links)
    expect([url, (await service.get(url.slice(receiptsUrl.length))).status]).toEqual([url, 200]);
});

describe('/.well-known/security.txt', () => {
  it('names the contacts in their order, and is valid for less than a year', async () => {
    const { headers, text } = await service.get('/.well-known/security.txt');
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(
      /^Contact: mailto:security@acme\.test\nContact: https:\/\/acme\.test\/security\nExpires: /,
    );
    const expires = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '');
    expect(expires).toBeGreaterThan((SECOND + 150 * 86_400) * 1000);
    expect(expires).toBeLessThan((SECOND + 365 * 86_400) * 1000);
    expect(text).toContain(`Canonical: ${service.config.siteUrl}/.well-known/security.txt\n`);
  });

  it('is absent where there is no contact', async () => {
    const other = await startTestService();
    expectProblem(await other.get('/.well-known/security.txt'), 'not_found');
    await other.close();
  });

  it.each(['security@acme.test', 'http://acme.test', 'mailto:nobody'])(
    'takes no contact like %s',
    async (contact) => {
      await expect(startTestService({ env: { TALLY_SECURITY_CONTACT: contact } })).rejects.toThrow(
        /TALLY_SECURITY_CONTACT/,
      );
    },
  );
});
