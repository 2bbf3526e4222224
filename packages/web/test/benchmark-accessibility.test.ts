import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, LOOKS, lookOf } from './axe.ts';
import { goodReplies, type Replies, startSite } from './benchmark-site.ts';
import { launch, openAt } from './browser.ts';

let browser: Browser;
let good: Replies;
beforeAll(async () => {
  browser = await launch();
  good = await goodReplies();
});
afterAll(() => browser.close());

/** Everything that the page can look like. */
const states: Record<string, { trusted?: boolean; change?: Partial<Replies> }> = {
  'all is well': {},
  'nobody vouches for the key': { trusted: false },
  'a summary that was changed': { change: { benchmark: { body: '{"type":"svc-benchmark-v1"}' } } },
  'a node that is missing': { change: { modality: { status: 404, body: '{}' } } },
  'the network is down': { change: { benchmark: null, semantic: null, temporal: null, modality: null } },
};

describe.each(LOOKS)('at %i px, %s', (width, colorScheme) => {
  test.each(Object.keys(states))('%s: nothing for axe, no overflow', async (name) => {
    const { trusted = true, change = {} } = states[name] ?? {};
    const site = await startSite({ ...good, ...change }, { trusted });
    const { page, context } = await openAt(browser, `${site.url}/benchmark`, lookOf(width, colorScheme));
    await page.waitForSelector('#main[aria-busy="false"]');
    await expectAccessible(page, width);
    await context.close();
    await site.close();
  });
});

test('with the keyboard: skip, choose a budget, scroll a table', async () => {
  const site = await startSite(good);
  const { page, context } = await openAt(browser, `${site.url}/benchmark`, lookOf(320, 'light'));
  await page.waitForSelector('#main[aria-busy="false"]');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
  await page.focus('#semantic-kinds input:checked');
  await page.keyboard.press('ArrowRight');
  const titles = page.locator('#semantic-kinds figcaption strong');
  expect(await titles.allTextContents()).toEqual(['Survival by kind of question, at 10% of the tokens']);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('radio');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('region');
  expect(await page.evaluate(() => document.activeElement?.scrollLeft)).toBe(0);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => (document.activeElement?.scrollLeft ?? 0) > 0);
  await context.close();
  await site.close();
});

test('every plot has a name of its own, and a table of the same name beside it', async () => {
  const site = await startSite(good);
  const { page, context } = await openAt(browser, `${site.url}/benchmark`);
  await page.waitForSelector('#main[aria-busy="false"]');
  await page.locator('#material details summary').first().click();
  await page.waitForSelector('#material details .drawing');
  await page.waitForSelector('#lossless .drawing');
  const names = await page
    .locator('.figure')
    .evaluateAll((figures) =>
      figures.map((figure) => [
        figure.querySelector('svg[role=img]')?.getAttribute('aria-label'),
        figure.querySelector('caption')?.textContent,
      ]),
    );
  expect(names).toHaveLength(10);
  for (const [plot, table] of names) expect(plot).toBe(table);
  expect(new Set(names.map(([plot]) => plot)).size).toBe(10);
  await context.close();
  await site.close();
});
