import { createSigner, generateSecretKey, keyDocument } from '@tallystick/core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  apiKey,
  receiptIdOf,
  runningClock,
  startTestService,
  type TestService,
} from '../../server/test/service.ts';
import { newTenant } from '../../server/test/tenant.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { keysHeard, launch, type Opened, openAt } from './browser.ts';
import { stubCalls } from './console-calls.ts';
import { measureShifts, shifted } from './shifts.ts';

let browser: Browser;
let service: TestService;
let url: string;
let key: string;
let receiptId: string;
beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: runningClock() });
  url = await service.listen();
  key = (await apiKey(service, 'pro')).authorization.slice('Bearer '.length);
  receiptId = receiptIdOf((await service.post('/v1/receipt/free', { input: 'a', purpose: 'p' })).text);
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

/** Opens the list of calls, which are made up: the service needs days to have as many. */
async function openCalls(query = '', options: BrowserContextOptions = {}, origin = url): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank', options);
  // The service takes signatures over its public address alone.
  await opened.context.route(`${service.config.siteUrl}/**`, async (route) => {
    const asked = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: url + asked.pathname + asked.search }) });
  });
  await stubCalls(opened.context, receiptId);
  await measureShifts(opened.page);
  await opened.page.goto(`${origin}/activity${query}`);
  await opened.page.waitForSelector('.list tbody tr');
  return opened;
}

const activeText = (page: Page): Promise<string | null> =>
  page.evaluate(() => document.activeElement?.textContent ?? null);
const times = (page: Page): Promise<string[]> => page.locator('a.row').allTextContents();

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  test('the list, its dialogs and the missing page: nothing for axe, nothing moves, nothing from elsewhere', async () => {
    const { page, context, complaints, requests } = await openCalls('', lookOf(width, look));
    await page.waitForSelector('.u-wrap');
    await expectAccessible(page, width);
    expect(await shifted(page)).toBeLessThan(0.05);
    for (const shown of ['?', 'Control+k']) {
      await page.keyboard.press(shown);
      await page.waitForSelector('dialog[open]');
      await expectAccessible(page, width);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
    }
    if (width < 1440) await page.click('.menu');
    await page.click('.sign-in');
    for (const way of ['By a DID', 'By a key']) {
      await page.click(`text=${way}`);
      await expectAccessible(page, width);
    }
    expect(complaints).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(url) && address !== 'about:blank')).toEqual([]);
    await page.goto(`${url}/nowhere`);
    await page.waitForSelector('.empty h1');
    await expectAccessible(page, width);
    await context.close();
  });
});

describe('by keyboard', () => {
  test('j, k and Enter go through the list, / filters it, and the filter stands in the address', async () => {
    const { page, context } = await openCalls();
    const [first, second] = await times(page);
    await keysHeard(page);
    await page.keyboard.press('j');
    expect(await activeText(page)).toBe(first);
    await page.keyboard.press('j');
    expect(await activeText(page)).toBe(second);
    await page.keyboard.press('k');
    expect(await activeText(page)).toBe(first);
    await page.keyboard.press('/');
    await page.keyboard.type('nonsense');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#filter-problem');
    await page.fill('.search input', 'model:openai/gpt-5-mini');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/activity?model=openai%2Fgpt-5-mini');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.list td:nth-child(2)')].every(
        (cell) => cell.textContent === 'openai/gpt-5-mini',
      ),
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/activity/call_*');
    await page.goBack();
    await page.waitForSelector('.chip');
    await context.close();
  });

  test('Ctrl K goes to a page and switches the look, which is kept', async () => {
    const { page, context } = await openCalls('', { colorScheme: 'light' });
    const paper = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette [role=combobox]:focus');
    await page.keyboard.type('dark');
    await page.keyboard.press('Enter');
    const dark = await paper();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.waitForSelector('a.row');
    expect(await paper()).toBe(dark);
    await page.keyboard.press('t');
    expect(await paper()).toBe(light);
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette [role=combobox]:focus');
    await page.keyboard.type('bench');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/benchmark');
    await context.close();
  });

  test('the command that is chosen is in sight', async () => {
    const { page, context } = await openCalls();
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette [role=combobox]:focus');
    await page.keyboard.press('ArrowUp');
    await page.waitForSelector('[aria-selected=true] >> text=Sign in');
    const below = (): Promise<number> =>
      page.evaluate(() => {
        const [list, chosen] = ['.palette ul', '[aria-selected=true]'].map((one) =>
          document.querySelector(one)?.getBoundingClientRect(),
        );
        return (chosen?.bottom ?? NaN) - (list?.bottom ?? NaN);
      });
    await expect.poll(below).toBeLessThan(1);
    await context.close();
  });

  test('the menu of narrow windows closes by Escape and when the focus leaves it, and has the focus after what it opened', async () => {
    const { page, context } = await openCalls('', { viewport: { width: 390, height: 844 } });
    const open = async (): Promise<void> => {
      await page.focus('.menu');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.side[data-shown=true]');
    };
    await open();
    await page.focus('.drawer a');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.side[data-shown=false] .menu:focus');
    await open();
    await page.focus('.drawer >> [aria-label="Keyboard shortcuts"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.menu:focus');
    await open();
    await page.focus('.drawer >> [aria-label="Keyboard shortcuts"]');
    await page.keyboard.press('Tab');
    await page.waitForSelector('.side[data-shown=false]');
    expect(await activeText(page)).toBe('1h');
    await context.close();
  });

  test('a page that was opened has the focus, and back in the list the row that opened it', async () => {
    const { page, context } = await openCalls();
    await keysHeard(page);
    for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
    const row = await page.evaluate(() => document.activeElement?.getAttribute('href') ?? '');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${row}`);
    await page.waitForSelector('main:focus');
    await page.goBack();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe(row);
    await context.close();
  });

  test('the focus is on the first of the older calls, and beside a filter that was taken off', async () => {
    const { page, context } = await openCalls();
    await page.focus('button.more');
    await page.keyboard.press('Enter');
    const place = (): Promise<number> =>
      page.evaluate(() =>
        [...document.querySelectorAll('a.row')].findIndex((row) => row === document.activeElement),
      );
    await expect.poll(place).toBe(50);
    await page.locator('.pick').first().click();
    await page.focus('.chip button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.search input:focus');
    await context.close();
  });
});

describe('the list of calls', () => {
  test('shows a model with its maker, or leaves the maker out, and cuts no beginning of a name', async () => {
    const { page, context } = await openCalls();
    for (const width of [390, 768, 900, 1024, 1200, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await keysHeard(page);
      const cut = await page.locator('.list .model-name').evaluateAll((names) =>
        names.flatMap((name) => {
          const [maker, rest] = [...name.children] as [HTMLElement, HTMLElement];
          const beside = maker.offsetParent !== null && maker.offsetTop === rest.offsetTop;
          const isCut = [maker, rest].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
          return beside && isCut ? [name.textContent] : [];
        }),
      );
      expect(cut, `${width} px`).toEqual([]);
    }
    await context.close();
  });

  test('verifies a receipt in its place, reads older calls, and shows those that come in', async () => {
    const { page, context } = await openCalls();
    await page.locator('button', { hasText: 'Verify' }).first().click();
    await page.waitForSelector('.verdict[data-state=pass]');
    await page.keyboard.press('Escape');
    expect(await page.locator('a.row').count()).toBe(50);
    await page.click('text=Show older calls');
    await page.waitForFunction(() => document.querySelectorAll('a.row').length === 100);
    await page.click('button.live');
    await page.waitForSelector('text=live-model');
    await page.click('text=Cost');
    await page.waitForURL('**/activity?plot=cost');
    await context.close();
  });

  test('says what went wrong in its place, and tries again', async () => {
    const { page, context } = await openCalls();
    let refused = true;
    await context.route('**/v1/compute/calls?*', (route) =>
      refused
        ? route.fulfill({
            status: 503,
            json: { code: 'unavailable', title: 'Not now', detail: 'Come back.' },
          })
        : route.fallback(),
    );
    await page.click('text=7d');
    await page.waitForSelector('.problem >> text=Come back.');
    refused = false;
    await page.click('text=Try again');
    await page.waitForSelector('.list tbody tr');
    expect(await page.locator('.problem').count()).toBe(0);
    await context.close();
  });
});

describe('signing in', () => {
  const stored = (page: Page): Promise<unknown> =>
    page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length]);

  test('by an API key: one that the service does not know is refused in its place', async () => {
    const { page, context } = await openCalls();
    await page.click('.sign-in');
    await page.fill('#sign-in-key', 'k_pro_short');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog .wrong >> text=This is no key');
    await page.fill('#sign-in-key', `k_pro_${'a'.repeat(32)}`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog .wrong >> text=key');
    await page.fill('#sign-in-key', key);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.who >> text=API key');
    expect(await page.locator('.who').textContent()).not.toContain(key);
    expect(await stored(page)).toEqual(['', 0, 0]);
    await page.reload();
    await page.waitForSelector('.sign-in');
    await context.close();
  });

  test('by an API key for the session, until sign-out forgets it', async () => {
    const { page, context } = await openCalls();
    await page.click('.sign-in');
    await page.fill('#sign-in-key', key);
    await page.check('dialog [type=checkbox]');
    await page.click('dialog .primary');
    await page.waitForSelector('.who');
    const [asked] = await Promise.all([page.waitForRequest('**/v1/compute/calls?*'), page.reload()]);
    expect(asked.headers()['authorization']).toBe(`Bearer ${key}`);
    await page.waitForSelector('.who');
    const [after] = await Promise.all([
      page.waitForRequest('**/v1/compute/calls?*'),
      page.click('text=Sign out'),
    ]);
    expect(after.headers()['authorization']).toBeUndefined();
    expect(await stored(page)).toEqual(['', 0, 0]);
    await context.close();
  });

  test.each([
    ['Tenant key', '/v1/receipts?limit=1', async () => (await newTenant(service)).headers],
    ['Partner key', '/v1/prospector/qualify', () => apiKey(service, 'partner')],
  ])('by a %s, which is tried at %s', async (kind, path, make) => {
    const { authorization } = await make();
    const { page, context } = await openCalls();
    await page.click('.sign-in');
    const enter = async (key: string): Promise<string | undefined> => {
      await page.fill('#sign-in-key', key);
      const [asked] = await Promise.all([page.waitForRequest(url + path), page.keyboard.press('Enter')]);
      return asked.headers()['authorization'];
    };
    const sent = authorization.slice('Bearer '.length);
    await enter(`${sent.slice(0, -4)}zzzz`);
    await page.waitForSelector('dialog .wrong');
    expect(await enter(sent)).toBe(authorization);
    await page.waitForSelector(`.who >> text=${kind}`);
    await context.close();
  });

  test('by a key file, which signs each request as RFC 9421 says', async () => {
    const { page, context } = await openCalls('', {}, service.config.siteUrl);
    await page.click('.sign-in');
    await page.click('text=By a DID');
    const file = { name: 'agent.json', mimeType: 'application/json' };
    await page.setInputFiles('#sign-in-file', { ...file, buffer: Buffer.from('{"type":"tally-key-v1"}') });
    await page.waitForSelector('dialog .wrong >> text=key file');
    const buffer = Buffer.from(keyDocument(generateSecretKey()));
    const [answer] = await Promise.all([
      page.waitForResponse('**/v1/balance'),
      page.setInputFiles('#sign-in-file', { ...file, buffer }),
    ]);
    const did = answer.request().headers()['x-agent-did'] ?? '';
    expect(await answer.json()).toMatchObject({ account: `caller:${did}` });
    expect(answer.request().headers()['signature-input']).toContain('"@target-uri" "x-agent-did"');
    await page.waitForSelector('.who >> text=DID');
    await context.close();
  });

  test('by a DID, whose limits and spending stand on the page of keys', async () => {
    const secret = generateSecretKey();
    const did = (await createSigner(secret)).keyId.split('#')[0] ?? '';
    await service.services.store.apiKeys.changeLimitsOf(
      did,
      () => '{"day_usdc":"2","requests_per_minute":30}',
    );
    const { page, context } = await openCalls('', {}, service.config.siteUrl);
    await page.click('.sign-in');
    await page.click('text=By a DID');
    const file = { name: 'agent.json', mimeType: 'application/json' };
    await page.setInputFiles('#sign-in-file', { ...file, buffer: Buffer.from(keyDocument(secret)) });
    await page.waitForSelector('.who >> text=DID');
    await page.click('nav a[href="/keys"]');
    await page.waitForSelector('.figures:not(.waiting)');
    await page.waitForSelector('.empty >> text=No keys yet');
    const figures = await page.locator('.figures').innerText();
    expect(figures.replaceAll(/\s+/g, ' ')).toMatch(
      /Spent today \$0(?:\.00)? of \$2(?:\.00)? This month \$0(?:\.00)? Other limits 30 calls a minute/,
    );
    expect(await shifted(page)).toBeLessThan(0.05);
    await expectAccessible(page, 1280);
    await context.close();
  });

  test('by a key made in the browser, whose secret nobody can read and which is used again', async () => {
    const { page, context } = await openCalls('', {}, service.config.siteUrl);
    const signIn = async (button: string): Promise<string> => {
      await page.click('.sign-in');
      await page.click('text=By a DID');
      const [answer] = await Promise.all([
        page.waitForResponse('**/v1/balance'),
        page.click(`text=${button}`),
      ]);
      expect(answer.status()).toBe(200);
      await page.waitForSelector('.who');
      return answer.request().headers()['x-agent-did'] ?? '';
    };
    const did = await signIn('Make a key in this browser');
    expect(did).toMatch(/^did:key:z6Mk/);
    await page.click('text=Sign out');
    expect(await signIn('Use this browser’s key')).toBe(did);
    const exported = await page.evaluate(async () => {
      const opening = indexedDB.open('tallystick');
      await new Promise((resolve) => opening.addEventListener('success', resolve));
      const reading = opening.result.transaction('keys').objectStore('keys').get('own');
      await new Promise((resolve) => reading.addEventListener('success', resolve));
      const { privateKey } = reading.result as CryptoKeyPair;
      return crypto.subtle.exportKey('pkcs8', privateKey).then(
        () => 'exported',
        (error: DOMException) => error.name,
      );
    });
    expect(exported).toBe('InvalidAccessError');
    await context.close();
  });

  test('by a key that another tab has made meanwhile, and not by a second one', async () => {
    const { page, context, complaints } = await openCalls('', {}, service.config.siteUrl);
    const other = await context.newPage();
    await other.goto(page.url());
    for (const tab of [page, other]) {
      await tab.click('.sign-in');
      await tab.click('text=By a DID');
      await tab.waitForSelector('button:enabled >> text=Make a key in this browser');
    }
    const dids: (string | null)[] = [];
    for (const tab of [other, page]) {
      await tab.click('text=Make a key in this browser');
      await tab.waitForSelector('.who');
      dids.push(await tab.getAttribute('.who b', 'title'));
    }
    expect(dids[0]).toMatch(/^did:key:z6Mk/);
    expect(dids[1]).toBe(dids[0]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
