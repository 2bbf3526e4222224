import type { JsonObject } from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MODEL, type Routed, startRouted } from '../../server/test/compute.ts';
import { apiKey, runningClock } from '../../server/test/service.ts';
import { startTcpProxy, type TcpProxy } from '../../server/test/tcp-proxy.ts';
import { launch, launchIn, type Opened, openAt } from './browser.ts';

/** The page of calls in front of the real service. */

let browser: Browser;
let routed: Routed;
let proxy: TcpProxy;
let headers: Readonly<Record<string, string>>;
/** The call that went well, as the list has it. */
let row: Readonly<Record<'at' | 'key' | 'receipt_id' | 'request_hash', string>>;
beforeAll(async () => {
  browser = await launch();
  routed = await startRouted({ clock: runningClock() });
  proxy = await startTcpProxy(Number(new URL(routed.url).port));
  headers = await apiKey(routed.service, 'pro');
  await call({ svc: { session: 'run-7', tags: { team: 'search' } } });
  await call({ model: 'openai/none' });
  const { json } = await routed.service.get('/v1/compute/calls?status=ok', headers);
  [row] = json['data'] as unknown as [typeof row];
});
afterAll(async () => {
  await browser.close();
  await proxy.stop();
  await routed.close();
});

/** Makes a call, past the proxy, and waits until it is listed. */
async function call(body: JsonObject): Promise<void> {
  await routed.chat(body, headers);
  await routed.service.services.compute.listed();
}

async function openSignedIn(path: string): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank');
  const key = headers['authorization']?.replace('Bearer ', '') ?? '';
  await opened.page.addInitScript((held) => sessionStorage.setItem('tallystick-session', held), key);
  await opened.page.goto(`http://127.0.0.1:${proxy.port}${path}`);
  return opened;
}

test('the plot is drawn where the browser’s language is one that Intl refuses, as in the C locale', async () => {
  const inC = await launchIn({ LC_ALL: 'C' });
  const page = await inC.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  const key = headers['authorization']?.replace('Bearer ', '') ?? '';
  await page.addInitScript((held) => sessionStorage.setItem('tallystick-session', held), key);
  await page.goto(`http://127.0.0.1:${proxy.port}/activity`);
  expect(await page.evaluate(() => navigator.language)).toBe('en-US@posix');
  await page.waitForSelector('.overview figcaption');
  await expect.poll(async () => (await page.locator('.u-wrap').count()) + errors.length).toBe(1);
  expect(errors).toEqual([]);
  await inC.close();
});

const rowsOf = (page: Page): Promise<string[]> =>
  page.locator('a.row').evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

test('a failed call says so at every width', async () => {
  const { page } = await openSignedIn('/activity');
  const failed = page.locator('tr', { has: page.locator('[data-state=fail]') });
  for (const width of [320, 390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await failed.first().waitFor();
    expect(await failed.locator('[data-state=fail]').allInnerTexts(), `${width} px`).toEqual([
      expect.stringMatching(/^404/),
    ]);
  }
  await page.context().close();
});

test.each([
  ['model', () => MODEL, 1],
  ['provider', () => 'openai', 1],
  ['status', () => 'ok', 1],
  ['status', () => 'error', 1],
  ['status', () => '200', 1],
  ['error_code', () => 'model_not_found', 1],
  ['key', () => row.key, 2],
  ['did', () => 'did:web:nobody.example', 0],
  ['session', () => 'run-7', 1],
  ['tag', () => 'team:search', 1],
  ['min_cost', () => '0.000000001', 1],
  ['max_cost', () => '0', 1],
  ['receipt_id', () => row.receipt_id, 1],
  ['request_hash', () => row.request_hash.replace('sha256:', ''), 1],
])('%s in the address filters the plot, the breakdown and the list', async (name, value, calls) => {
  const { page, context, complaints } = await openSignedIn(
    `/activity?by=status&${name}=${encodeURIComponent(value())}`,
  );
  await page.waitForSelector('.overview .u-wrap');
  await page.waitForFunction(() => document.querySelector('.skeleton, [aria-busy=true]') === null);
  expect(await page.locator('.problem').allTextContents()).toEqual([]);
  expect(await page.locator('.metrics button').first().locator('b').textContent()).toBe(String(calls));
  // No two of the calls have one status.
  expect(await page.locator('.breakdown .bars li').count()).toBe(calls);
  expect(await page.locator('a.row').count()).toBe(calls);
  expect(complaints).toEqual([]);
  await context.close();
});

test('the breakdown counts nothing beside its range', async () => {
  const to = Math.floor(Date.parse(row.at) / 3_600_000) * 3_600;
  const { page } = await openSignedIn(`/activity?from=${to - 7_200}&to=${to}`);
  await page.getByText('No calls in this range').waitFor();
  expect(await page.locator('.metrics b').first().innerText()).toBe('0');
  await page.locator('.metrics', { hasText: 'Latency, p95 of a minute' }).waitFor();
  await page.locator('.breakdown', { hasText: 'There is nothing to break down.' }).waitFor();
  await page.context().close();
});

test('a live list says when it is not live, is live again by itself, and misses no call and shows none twice', async () => {
  const { page, context } = await openSignedIn('/activity');
  const live = page.locator('button.live');
  const state = (now: string): Promise<unknown> =>
    page.waitForFunction((wanted) => document.querySelector(`button.live[data-state=${wanted}]`), now);
  const told = page.locator('p[role=status]');
  // The service ends the first answer, as it does with each after 15 minutes.
  let ended = false;
  await context.route('**/v1/compute/calls/live*', async (route) => {
    if (ended) return route.fallback();
    ended = true;
    await route.fulfill({ contentType: 'text/event-stream', body: ': soon over\n\n' });
  });
  await page.waitForSelector('a.row');
  const before = await rowsOf(page);
  // In the list only after the page has read it.
  await call({});
  // It waits for a second only.
  await Promise.all([state('waiting'), live.click()]);
  await state('live');
  expect(ended).toBe(true);
  await page.waitForFunction(
    (count) => document.querySelectorAll('a.row').length === count,
    before.length + 1,
  );
  await call({});
  await page.waitForFunction(
    (count) => document.querySelectorAll('a.row').length === count,
    before.length + 2,
  );
  expect(await told.textContent()).toBe('');

  proxy.fate = 'refuse';
  proxy.cut();
  await state('waiting');
  expect(await told.textContent()).toContain('Not live');
  expect(await live.getAttribute('aria-pressed')).toBe('true');
  await call({});
  await call({ model: 'openai/none' });
  expect(await rowsOf(page)).toHaveLength(before.length + 2);
  proxy.fate = 'forward';
  await state('live');
  await page.waitForFunction(
    (count) => document.querySelectorAll('a.row').length === count,
    before.length + 4,
  );
  expect(await told.textContent()).toBe('');
  await call({});
  await page.waitForFunction(
    (count) => document.querySelectorAll('a.row').length === count,
    before.length + 5,
  );

  const { json } = await routed.service.get('/v1/compute/calls', headers);
  const listed = (json['data'] as { id: string }[]).map(({ id }) => `/activity/${id}`);
  expect(await rowsOf(page)).toEqual(listed);
  await live.click();
  await state('off');
  expect(await rowsOf(page)).toEqual(listed);
  await context.close();
});

test('a live list whose connection falls silent is made live again', async () => {
  const { page, context } = await openSignedIn('/activity');
  await page.waitForSelector('a.row');
  await page.clock.install();
  await page.click('button.live');
  await page.waitForSelector('button.live[data-state=live]');
  proxy.blackHole();
  proxy.fate = 'refuse';
  await page.clock.fastForward(20_000);
  expect(await page.getAttribute('button.live', 'data-state')).toBe('live');
  await page.clock.fastForward(30_000);
  await page.waitForSelector('button.live[data-state=waiting]');
  // A network that is there again resets what was open before.
  proxy.fate = 'forward';
  proxy.cut();
  await page.clock.fastForward(30_000);
  await page.waitForSelector('button.live[data-state=live]');
  await context.close();
});

test('a live list that the service refuses says why, and is no longer live', async () => {
  const { page, context } = await openSignedIn('/activity');
  await context.route('**/v1/compute/calls/live*', (route) =>
    route.fulfill({ status: 401, json: { code: 'api_key_invalid', title: 'Not a key', detail: 'Sign in.' } }),
  );
  await page.waitForSelector('a.row');
  await page.click('button.live');
  await page.waitForSelector('.problem >> text=Sign in.');
  await page.waitForSelector('button.live[data-state=off]');
  expect(await page.getAttribute('button.live', 'aria-pressed')).toBe('false');
  await context.close();
});

test('a skeleton stands where a page will be until its script is there', async () => {
  const { page, context } = await openSignedIn('/status');
  await page.waitForSelector('main h1');
  const held = Promise.withResolvers<void>();
  await context.route('**/*.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.click('a[href="/activity"]');
  await page.waitForSelector('main > .skeleton[role=status]');
  expect(await page.locator('main h1').count()).toBe(0);
  held.resolve();
  await page.waitForSelector('main h1');
  await context.close();
});
