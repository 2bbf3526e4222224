import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Routed, startRouted, svcOf } from '../../server/test/compute.ts';
import { newOperator } from '../../server/test/operator-key.ts';
import { apiKey, runningClock } from '../../server/test/service.ts';
import { newTenant } from '../../server/test/tenant.ts';
import { pages } from '../src/console/pages.ts';
import { navigation } from '../src/navigation.ts';
import { expectAccessible, expectNothingForAxe, lookOf } from './axe.ts';
import { launch, type Opened, openAt } from './browser.ts';
import { measureShifts, shifted } from './shifts.ts';

const SESSION = 'run-7';

let browser: Browser;
let routed: Routed;
let keys: Record<'account' | 'tenant' | 'operator', string>;
let call: string;
beforeAll(async () => {
  browser = await launch();
  routed = await startRouted({ clock: runningClock() });
  const { service } = routed;
  const account = await apiKey(service, 'pro');
  const bare = ({ authorization }: { readonly authorization: string }): string =>
    authorization.replace('Bearer ', '');
  keys = {
    account: bare(account),
    tenant: bare((await newTenant(service)).headers),
    operator: bare((await newOperator(service)).headers),
  };
  call = svcOf(await routed.chat({ svc: { session: SESSION } }, account)).receipt.receipt_id;
  await service.services.compute.listed();
});
afterAll(async () => {
  await browser.close();
  await routed.close();
});

/** Who is signed in on a page, and what its address has in place of `:id`. */
const SIGNED_IN: Readonly<Record<string, keyof typeof keys | null>> = {
  '/evidence/build': 'tenant',
  '/operator': 'operator',
  '/status': null,
  '/log': null,
};
const pathOf = (path: string): string => path.replace(':id', path.startsWith('/sessions') ? SESSION : call);
const STATIC = ['/', '/verify', '/evidence', '/benchmark', '/docs/errors'];
const PATHS = [...pages.map(({ path }) => path), ...STATIC];

async function visit(path: string, width: number, look: 'light' | 'dark'): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank', lookOf(width, look));
  await measureShifts(opened.page);
  const who = SIGNED_IN[path] === undefined ? 'account' : SIGNED_IN[path];
  if (who !== null)
    await opened.page.addInitScript((key) => sessionStorage.setItem('tallystick-session', key), keys[who]);
  await opened.page.goto(routed.url + pathOf(path));
  await opened.page.waitForSelector('main h1, h1');
  await drawn(opened.page);
  return opened;
}

/** Resolves when nothing is on its way any more. Pages that read again every few seconds are quiet in between. */
async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.skeleton, [aria-busy=true], .waiting') === null);
}

/** Presses Tab until the focus leaves the page, and returns what had it. */
async function tabThrough(page: Page): Promise<Set<string>> {
  const reached = new Set<string>();
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const active = document.activeElement;
      if (active === null || active === document.body) return null;
      active.setAttribute('data-reached', '');
      return `${active.tagName} ${active.getAttribute('href') ?? active.textContent?.trim()}`;
    });
    if (at === null) break;
    reached.add(at);
  }
  return reached;
}

/** Controls that are shown and can be used, and that Tab did not reach. */
const missed = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches(':disabled'))
      .filter((one) => !(one instanceof HTMLInputElement && ['radio', 'file'].includes(one.type)))
      .filter((one) => one.tabIndex >= 0 && !one.hasAttribute('data-reached'))
      .map((one) => one.outerHTML.slice(0, 120)),
  );

// The colours have no part in where Tab goes, and at 768 px the controls are those of 390.
describe.each([
  [1440, 'light', true],
  [768, 'dark', false],
  [390, 'light', false],
  [390, 'dark', true],
] as const)('at %i px, %s', (width, look, byTab) => {
  test.each(PATHS)(
    `%s: nothing for axe, nothing moves, nothing from elsewhere${byTab ? ', every control by Tab' : ''}`,
    async (path) => {
      const { page, context, requests } = await visit(path, width, look);
      await expectAccessible(page, width);
      expect(await shifted(page)).toBeLessThan(0.05);
      if (byTab) await tabThrough(page);
      expect(byTab ? await missed(page) : []).toEqual([]);
      const own = [`${routed.url}/`, 'about:blank', 'data:', 'blob:'];
      expect(requests.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
      await context.close();
    },
  );
});

test.each(pages.map(({ path }) => path))(
  '%s: every column that a list shows has room for its head, in windows of any width',
  async (path) => {
    const { page, context } = await visit(path, 1440, 'light');
    for (const width of [320, 390, 640, 768, 832, 1000, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const cut = await page.evaluate(async () => {
        // A list is drawn anew after its size was observed, which is after the first frame.
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
        return [...document.querySelectorAll('.list th')]
          .filter((head) => head.scrollWidth > head.clientWidth)
          .map((head) => head.textContent);
      });
      expect({ width, cut }).toEqual({ width, cut: [] });
    }
    await context.close();
  },
);

test('the keyboard leads from the console to every page of its navigation, in the order that is shown', async () => {
  const { page, context } = await visit('/activity', 1440, 'light');
  const order = [...(await tabThrough(page))];
  expect(order[0]).toBe('A #main');
  const links = navigation.flatMap(({ entries }) => entries.map(({ path }) => `A ${path}`));
  expect(order.filter((one) => links.includes(one))).toEqual(links);
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog[open] input:focus');
  for (const { entries } of navigation)
    for (const { title } of entries) {
      await page.fill('dialog input', title);
      expect(await page.locator('dialog [role=option][aria-selected=true]').textContent()).toContain(title);
    }
  await context.close();
});

test('the reference has nothing for axe that is ours', async () => {
  const { page, context } = await openAt(browser, `${routed.url}/docs`, lookOf(1440, 'light'));
  await page.getByRole('heading', { name: 'Tallystick', exact: true }).waitFor();
  // The components of Scalar are a library's: what axe finds in them is for its makers to mend.
  await expectNothingForAxe(page, { exclude: ['.scalar-app'] });
  await context.close();
});

test('the button of the reference that copies an example shows that it has the focus', async () => {
  const address = `${routed.url}/docs#tag/receipts/POST/v1/receipt/free`;
  const { page, context } = await openAt(browser, address, lookOf(1440, 'light'));
  const button = page.locator('.code-copy').first();
  await button.waitFor();
  const outline = (): Promise<string> => button.evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(await outline()).toBe('none');
  await page.keyboard.press('Tab');
  await button.focus();
  expect(await outline()).toBe('solid');
  await context.close();
});
