import { toHex } from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, LOOKS, lookOf } from './axe.ts';
import { launch, openAt } from './browser.ts';
import { type ConsoleSite, startConsole } from './console-site.ts';

let browser: Browser;
let site: ConsoleSite;
beforeAll(async () => {
  browser = await launch();
  site = await startConsole();
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

const nothing = async (): Promise<void> => {};

async function mint(page: Page): Promise<void> {
  await page.click('#mint-button');
  await page.waitForSelector('#verdict .verdict');
}

/** Everything that the pages can look like: where, and what is done there. */
const states: Record<string, readonly [path: string, act: (page: Page) => Promise<unknown>]> = {
  'the landing page': ['/', nothing],
  'a receipt that was minted': ['/', mint],
  'a receipt that was changed': [
    '/',
    async (page) => {
      await mint(page);
      await page.click('#tamper');
      await page.waitForSelector('#verdict .verdict[data-state=fail]');
    },
  ],
  'no receipt': ['/receipts', nothing],
  'an anchored receipt': [
    '/receipts',
    async (page) => {
      await page.fill('#id', site.anchoredId);
      await page.click('#lookup button');
      await page.waitForSelector('#result h2');
    },
  ],
  'an id that is none': ['/receipts#x', (page) => page.waitForSelector('#failure h2')],
  'the log, and a hash in it': [
    '/log',
    async (page) => {
      await page.waitForSelector('#main[aria-busy="false"]');
      await page.fill('#hash', toHex(site.anchoredHash));
      await page.click('#lookup button');
      await page.waitForSelector('#inclusion .verdict');
    },
  ],
  'the usage of a key': [
    '/usage',
    async (page) => {
      await page.fill('#key', site.key);
      await page.click('#ask button');
      await page.waitForSelector('#own .drawing');
      await page.waitForSelector('#service .drawing');
    },
  ],
  'a usage that is refused': [
    '/usage',
    async (page) => {
      await page.click('#ask button');
      await page.waitForSelector('#own .refusal');
    },
  ],
  'the leaderboard': ['/leaderboard', (page) => page.waitForSelector('#board .drawing')],
  'the errors': ['/docs/errors', nothing],
};

describe.each(LOOKS)('at %i px, %s', (width, colorScheme) => {
  test.each(Object.keys(states))('%s: nothing for axe, no overflow', async (name) => {
    const [path, act] = states[name] ?? ['/', nothing];
    const { page, context } = await openAt(browser, site.url + path, lookOf(width, colorScheme));
    await act(page);
    await expectAccessible(page, width);
    await context.close();
  });
});

// A long page, which axe takes its time for: not in every look.
test.each([
  [320, 'dark'],
  [1440, 'light'],
] as const)('the reference at %i px, %s: nothing for axe, no overflow', async (width, colorScheme) => {
  const { page, context } = await openAt(browser, `${site.url}/docs`, lookOf(width, colorScheme));
  await expectAccessible(page, width);
  await context.close();
});

const PAGES = [
  '/',
  '/verify',
  '/receipts',
  '/evidence',
  '/log',
  '/usage',
  '/leaderboard',
  '/benchmark',
  '/docs',
  '/docs/errors',
];

describe.each(PAGES)('the header of %s', (path) => {
  test('is the same as on every page, and leads to pages that are there', async () => {
    const { text } = await site.service.get(path, { accept: 'text/html' });
    const header = /<header class="top">[^]*?<\/header>/.exec(text)?.[0] ?? '';
    const landing = await site.service.get('/');
    const unmarked = (html: string): string => html.replace(/ aria-current="\w+"/, '');
    expect(landing.text).toContain('<header class="top">');
    expect(unmarked(landing.text)).toContain(unmarked(header));
    for (const [, target = ''] of header.matchAll(/href="([^"]+)"/g)) {
      expect((await site.service.get(target)).status, target).toBe(200);
    }
  });

  test('folds at 320 px, opens by keyboard, and nothing scrolls sideways', async () => {
    const { page, context } = await openAt(browser, site.url + path, lookOf(320, 'light'));
    const link = page.locator('.links a').last();
    expect(await link.isVisible()).toBe(false);
    await page.focus('.menu summary');
    await page.keyboard.press('Enter');
    expect(await link.isVisible()).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toBe('/verify');
    const [scrollWidth, linksWidth] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.querySelector('.links')?.scrollWidth ?? 999,
    ]);
    expect([scrollWidth, linksWidth]).toEqual([320, 320]);
    await context.close();
  });

  test('stands open at 1440 px, without a menu button, and is no part of what is printed', async () => {
    const { page, context } = await openAt(browser, site.url + path, lookOf(1440, 'light'));
    expect(await page.isVisible('.menu summary')).toBe(false);
    const tops = await page
      .locator('.links a')
      .evaluateAll((links) => links.map((one) => one.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(1);
    await page.emulateMedia({ media: 'print' });
    expect(await page.isVisible('.top')).toBe(false);
    await context.close();
  });
});
