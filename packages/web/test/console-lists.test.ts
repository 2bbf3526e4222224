import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiKey, runningClock, startTestService, type TestService } from '../../server/test/service.ts';
import { launch, type Opened, openAt } from './browser.ts';

let browser: Browser;
let service: TestService;
let url: string;
let keys: readonly string[];
beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: runningClock() });
  url = await service.listen();
  const made = await Promise.all([apiKey(service, 'pro'), apiKey(service, 'pro')]);
  keys = made.map(({ authorization }) => authorization.slice('Bearer '.length));
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

const refusal = { status: 503, json: { code: 'unavailable', title: 'Not now', detail: 'Come back.' } };

/** A session, named after who asks, the page of the list and its place in the page. */
const sessionAt = (of: string, page: string, place: number) => ({
  session: `${of}-${page}-${place}`,
  at: new Date(1e12 - place).toISOString(),
  last_at: new Date(1e12).toISOString(),
  calls: 1,
  errors: 0,
  receipts: 0,
  tool_calls: 0,
  cost_usdc: '0.000001000',
});

/** Opens the list of sessions, of two pages for each key. @param older answers for the second page; true if it has */
async function openSessions(older: (route: Route) => Promise<boolean>): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank');
  await opened.context.route('**/v1/sessions?*', async (route) => {
    const of = keys.findIndex((key) => route.request().headers()['authorization'] === `Bearer ${key}`);
    const cursor = new URL(route.request().url()).searchParams.get('cursor');
    if (of === -1) return route.fulfill({ status: 401, json: { code: 'unauthorized', title: 'Who?' } });
    if (cursor !== null && (await older(route))) return;
    const data = [0, 1, 2].map((place) => sessionAt(`key${of}`, cursor ?? 'first', place));
    return route.fulfill({ json: { data, next_cursor: cursor === null ? 'second' : null } });
  });
  await opened.page.goto(`${url}/sessions`);
  await signIn(opened.page, keys[0] ?? '');
  await opened.page.waitForSelector('text=key0-first-0');
  return opened;
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.click('.sign-in');
  await page.fill('#sign-in-key', key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog', { state: 'detached' });
}

const rows = (page: Page): Promise<string[]> => page.locator('a.row').allTextContents();

describe('a page of a list that is on its way', () => {
  test('is not shown to whoever signs in meanwhile', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const { page, context } = await openSessions(async () => {
      asked.resolve();
      await answer.promise;
      return false;
    });
    await page.click('text=Show older sessions');
    await asked.promise;
    await page.click('text=Sign out');
    await signIn(page, keys[1] ?? '');
    await page.waitForSelector('text=key1-first-0');
    answer.resolve();
    // Their own next page comes after the one of the caller before.
    await page.click('text=Show older sessions');
    await page.waitForSelector('text=key1-second-0');
    const pages = ['first', 'second'].flatMap((name) => [0, 1, 2].map((place) => `key1-${name}-${place}`));
    expect(await rows(page)).toEqual(pages);
    await context.close();
  });

  test('and fails leaves what was read, says so, and can be asked for again', async () => {
    let refused = true;
    const { page, context } = await openSessions(async (route) => {
      if (refused) await route.fulfill(refusal);
      return refused;
    });
    await page.click('text=Show older sessions');
    await page.waitForSelector('.problem >> text=Come back.');
    expect(await rows(page)).toHaveLength(3);
    refused = false;
    await page.click('text=Show older sessions');
    await page.waitForSelector('text=key0-second-0');
    expect(await page.locator('.problem').count()).toBe(0);
    expect(await rows(page)).toHaveLength(6);
    await context.close();
  });
});

describe('a secret that is shown once', () => {
  const open = async (path: string, key: string): Promise<Opened> => {
    const opened = await openAt(browser, url + path);
    await signIn(opened.page, key);
    await opened.page.waitForSelector('.tools .primary');
    return opened;
  };
  const secretOf = async (page: Page): Promise<string> => {
    await page.waitForSelector('.secret');
    return (await page.textContent('.secret code')) ?? '';
  };

  test('is shown of the key that is signed in, though the one before it works no more', async () => {
    const key = (await apiKey(service, 'pro')).authorization.slice('Bearer '.length);
    const { page, context } = await open('/keys', key);
    await page.click('a.row');
    await page.click('text=Rotate…');
    await page.selectOption('dialog select', '0');
    await page.click('dialog .primary');
    const rotated = await secretOf(page);
    expect(rotated).toMatch(/^k_pro_/);
    await page.waitForSelector('.problem');
    await page.click('text=I have copied it');
    await page.click('text=Sign out');
    await signIn(page, rotated);
    await page.waitForSelector('a.row');
    await context.close();
  });

  test('is shown of a webhook, though the list of webhooks can’t be read', async () => {
    const { page, context } = await open('/webhooks', keys[0] ?? '');
    await page.click('text=Make the first webhook');
    await page.fill('dialog input[type=text]', 'https://receiver.example/');
    await page.click('dialog .primary');
    const secret = await secretOf(page);
    await page.click('text=I have copied it');
    await page.click('a.row');
    await page.click('text=Rotate…');
    await context.route('**/v1/webhooks?*', (route) => route.fulfill(refusal));
    await page.click('dialog .primary');
    await page.waitForSelector('.problem >> text=Come back.');
    expect(await secretOf(page)).toMatch(/^whsec_/);
    expect(await secretOf(page)).not.toBe(secret);
    await context.close();
  });
});

describe('an answer that breaks off', () => {
  test('is said to be one of the network, and can be asked for again', async () => {
    // Announces more than it sends, which no route of the browser's can.
    const cut = createServer((_, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': '1000',
        'access-control-allow-origin': '*',
        'access-control-allow-headers': '*',
      });
      response.write('{"data":', () => response.destroy());
    });
    await new Promise<void>((resolve) => void cut.listen(0, '127.0.0.1', resolve));
    const opened = await openAt(browser, 'about:blank', { bypassCSP: true });
    const { page, context } = opened;
    await context.addInitScript(`const real = fetch; fetch = (url, init) =>
      globalThis.whole || !String(url).includes('/v1/sessions?') ? real(url, init)
        : real('http://127.0.0.1:${(cut.address() as AddressInfo).port}/', { ...init, headers: {} })`);
    await page.goto(`${url}/sessions`);
    await signIn(page, keys[0] ?? '');
    const said = 'The service cannot be reached. Check the connection, then try again.';
    await page.waitForSelector('.problem');
    expect(await page.textContent('.problem')).toContain(said);
    await page.evaluate('globalThis.whole = true');
    await page.click('.problem button');
    await page.waitForSelector('.empty >> text=You have no sessions yet');
    await context.close();
    await new Promise((resolve) => void cut.close(resolve));
  });
});
