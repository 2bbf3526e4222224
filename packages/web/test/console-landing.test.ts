import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runningClock, startTestService, type TestService } from '../../server/test/service.ts';
import { navigation } from '../src/navigation.ts';
import { CONSOLE_LOOKS, expectAccessible, expectNothingForAxe, lookOf } from './axe.ts';
import { launch, type Opened, openAt } from './browser.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const STATIC = ['/', '/verify', '/evidence', '/benchmark', '/docs', '/docs/errors'];

const folder = mkdtempSync(join(tmpdir(), 'tally-landing-'));
let browser: Browser;
let service: TestService;
let url: string;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: runningClock() });
  url = await service.listen();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await browser.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

async function visit(path: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const opened = await openAt(browser, url + path, options);
  closing.push(() => opened.context.close());
  return opened;
}

function expectQuiet({ requests, complaints }: Opened): void {
  const own = (address: string): boolean =>
    [`${url}/`, 'data:', 'blob:'].some((start) => address.startsWith(start));
  expect(requests.filter((address) => !own(address))).toEqual([]);
  expect(complaints).toEqual([]);
}

/** Resolves once the reference shows its introduction. */
const drawn = (page: Page) => page.getByRole('heading', { name: 'Tallystick', exact: true }).waitFor();
const paper = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  test.each(['/', '/docs/errors', '/evidence', '/benchmark'])(
    '%s: nothing for axe, nothing wider than the window, nothing asked elsewhere',
    async (path) => {
      const opened = await visit(path, lookOf(width, look));
      if (path === '/') await opened.page.waitForSelector('#prices-models table');
      await expectAccessible(opened.page, width);
      expectQuiet({ ...opened, complaints: opened.complaints.filter((text) => !text.includes('404')) });
    },
  );

  test('the reference is drawn, and nothing in it is wider than the window or asked elsewhere', async () => {
    const opened = await visit('/docs', lookOf(width, look));
    await drawn(opened.page);
    expect(await opened.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await opened.page.evaluate(() => document.body.classList.contains('dark-mode'))).toBe(
      look === 'dark',
    );
    // Of the page around it, of which what the library draws is a part.
    await expectNothingForAxe(opened.page, { exclude: ['.scalar-app'] });
    expectQuiet(opened);
  });
});

describe.each(STATIC)('the header of %s', (path) => {
  test('leads to pages that are there, and opens by keyboard, one group at a time', async () => {
    const { page } = await visit(path, lookOf(390, 'light'));
    const groups = page.locator('.pages summary');
    expect(await groups.allInnerTexts()).toEqual(navigation.map(({ title }) => title));
    await groups.first().focus();
    await page.keyboard.press('Enter');
    const link = page.locator('.pages a').first();
    expect(await link.isVisible()).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await groups.nth(1).click();
    expect(await link.isVisible()).toBe(false);
    await page.keyboard.press('Escape');
    expect(await page.locator('.pages details[open]').count()).toBe(0);
    await groups.first().focus();
    await page.keyboard.press('Enter');
    await page.locator('.pages details[open] a').last().focus();
    await page.keyboard.press('Tab');
    expect(await page.locator('.pages details[open]').count()).toBe(0);
    for (const target of await page
      .locator('.top a')
      .evaluateAll((links) => links.map((one) => one.getAttribute('href'))))
      expect([target, (await service.get(target ?? '', { accept: 'text/html' })).status]).toEqual([
        target,
        200,
      ]);
  });
});

test('the look that is chosen on one page is that of all pages, and of the console', async () => {
  const { page } = await visit('/', { colorScheme: 'light' });
  const light = await paper(page);
  await page.click('#theme');
  const dark = await paper(page);
  expect(dark).not.toBe(light);
  for (const path of [...STATIC, '/activity']) {
    await page.goto(url + path);
    expect([path, await paper(page)]).toEqual([path, dark]);
  }
  await page.goto(`${url}/docs`);
  await drawn(page);
  await page.click('#theme');
  await page.waitForFunction(() => document.body.classList.contains('light-mode'));
  expect(await paper(page)).toBe(light);
  await page.goto(`${url}/verify`);
  expect(await paper(page)).toBe(light);
});

describe('the landing page', () => {
  test('shows the prices that the service states', async () => {
    const { page } = await visit('/');
    await page.waitForSelector('#prices-models table');
    const { profiles } = (await service.get('/pricing')).json as {
      profiles: { profile: string; price_usd: string }[];
    };
    for (const { profile, price_usd: price } of profiles) {
      const row = page.locator('#prices-receipts tr', { hasText: `“${profile}”` });
      expect(await row.locator('td').innerText()).toBe(`$${price}`);
    }
    const { data } = (await service.get('/v1/compute/models')).json as { data: { id: string }[] };
    const models = await page.locator('#prices-models tbody th').allInnerTexts();
    expect(models).toEqual(data.slice(0, 8).map(({ id }) => id));
  });

  test('shows one language at a time, by arrows too, and copies what is shown', async () => {
    const { page, context } = await visit('/');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.focus('#tab-curl');
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('tab-python');
    expect(await page.locator('[role=tabpanel]:visible').getAttribute('id')).toBe('code-python');
    await page.click('#copy-code button');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`Client("${url}")`);
    await page.keyboard.press('Tab');
    expect(await page.locator('#tab-curl').getAttribute('tabindex')).toBe('-1');
  });

  test.each([
    ['curl', (code: string) => run('bash', ['-ec', code], { cwd: folder }), '"valid":true'],
    [
      'typescript',
      (code: string) => run(process.execPath, ['--input-type=module-typescript', '-e', code], { cwd: root }),
      'true\n',
    ],
  ] as const)('its lines of %s mint a receipt that is valid', async (language, act, expected) => {
    const { page } = await visit('/');
    const code = (await page.locator(`#code-${language}`).textContent()) ?? '';
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(5);
    expect((await act(code)).stdout).toContain(expected);
  });

  test('claims that the visitor trusts the issuer only of who saved its bundle', async () => {
    const { page } = await visit('/');
    const title = async (): Promise<string> => {
      await page.click('#mint-button');
      await page.waitForSelector('#verdict .verdict');
      return page.locator('#verdict h3').innerText();
    };
    expect(await title()).toBe('Valid, and signed by this service');
    await page.goto(`${url}/verify`);
    await page.evaluate(() => document.getElementById('trust-panel')?.setAttribute('open', ''));
    await page.fill('#trust', (await service.get('/.well-known/trust.json')).text);
    await page.click('#trust-add');
    await page.waitForSelector('text=Forget the remembered root');
    await page.goto(`${url}/`);
    expect(await title()).toBe('Valid, from an issuer you trust');
  });
});

describe('the reference', () => {
  test('shows the body of a request and code in three languages, and sends requests to this service', async () => {
    const opened = await visit('/docs', { viewport: { width: 1440, height: 900 } });
    const { page } = opened;
    await drawn(page);
    for (const language of ['Shell', 'Python', 'TypeScript'])
      await page.getByText(language, { exact: true }).first().waitFor();
    await page.getByRole('link', { name: /^Receipts/ }).click();
    await page
      .getByRole('link', { name: /Mint a free receipt/ })
      .first()
      .click();
    const operation = page.locator('[id$="POST/v1/receipt/free"]').first();
    await operation.getByText('What the receipt is for, in your words.').waitFor();
    const answered = page.waitForResponse((response) => response.url() === `${url}/v1/receipt/free`);
    await operation
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByRole('button', { name: /^Send/ }).last().click();
    const answer = await answered;
    expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'application/json']);
    expectQuiet(opened);
  });
});

test('the verify page folds the members that are null', async () => {
  const { page } = await visit('/verify');
  const { text } = await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' });
  await page.fill('#receipt', text);
  await page.click('#verify');
  await page.waitForSelector('#result h2');
  const folded = page.locator('#result .nulls').first();
  await folded.evaluate((one) => one.closest('details:not(.nulls)')?.setAttribute('open', ''));
  expect(await folded.getAttribute('open')).toBeNull();
  const names = await folded.locator('dt').allTextContents();
  expect(names.length).toBeGreaterThan(0);
  expect(await folded.locator('dd .value').allTextContents()).toEqual(names.map(() => 'null'));
  const unfolded = await page
    .locator('#result .fields .none')
    .evaluateAll(
      (all) => all.filter((one) => one.textContent === 'null' && one.closest('.nulls') === null).length,
    );
  expect(unfolded).toBe(0);
});
