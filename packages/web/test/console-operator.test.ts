import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeOperatorKey } from '../../callers/src/operator-keys.ts';
import { MODEL, type Routed, startRouted } from '../../server/test/compute.ts';
import { newOperator } from '../../server/test/operator-key.ts';
import { apiKey, runningClock } from '../../server/test/service.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { launch, type Opened, openAt } from './browser.ts';
import { measureShifts, shifted } from './shifts.ts';

let browser: Browser;
let routed: Routed;
let key: string;
let keyId: string;
beforeAll(async () => {
  browser = await launch();
  routed = await startRouted({ clock: runningClock() });
  const operator = await newOperator(routed.service);
  key = operator.headers.authorization.slice('Bearer '.length);
  keyId = operator.id;
  for (let call = 0; call < 3; call++) await routed.chat();
});
afterAll(async () => {
  await browser.close();
  await routed.close();
});

async function signIn(page: Page, as: string): Promise<void> {
  await page.click('.empty button.primary');
  await page.fill('#sign-in-key', as);
  await page.press('#sign-in-key', 'Enter');
}

async function openOperator(options: BrowserContextOptions = {}): Promise<Opened> {
  // Of the models, those are shown that were called in the last five minutes.
  await routed.chat();
  const opened = await openAt(browser, 'about:blank', options);
  await measureShifts(opened.page);
  await opened.page.goto(`${routed.url}/operator`);
  await signIn(opened.page, key);
  await opened.page.waitForSelector('table[aria-label="Models"]');
  return opened;
}

const rowOf = (page: Page, table: string, name: string) =>
  page.locator(`table[aria-label="${table}"] tbody tr`, { has: page.locator(`[title="${name}"]`) });
const inNavigation = (page: Page): Promise<number> => page.locator('nav a[href="/operator"]').count();

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  test('the page and what it asks: nothing for axe, nothing moves, nothing from elsewhere', async () => {
    const { page, context, complaints, requests } = await openOperator(lookOf(width, look));
    await expectAccessible(page, width);
    await rowOf(page, 'Providers', 'openai').getByRole('button', { name: 'Give a rest' }).click();
    await page.waitForSelector('dialog[open]');
    await expectAccessible(page, width);
    await page.keyboard.press('Escape');
    await page.click('text=/Show all \\d+ models/');
    await expectAccessible(page, width);
    expect(await shifted(page)).toBeLessThan(0.05);
    expect(complaints).toEqual([]);
    expect(requests.filter((at) => !at.startsWith(routed.url) && at !== 'about:blank')).toEqual([]);
    await context.close();
  });
});

describe('who may see it', () => {
  test('nobody without a key, and no caller, whose navigation does not name it', async () => {
    const { page, context, requests } = await openAt(browser, `${routed.url}/operator`);
    await page.waitForSelector('.empty');
    expect(await inNavigation(page)).toBe(0);
    const { authorization } = await apiKey(routed.service, 'enterprise');
    await signIn(page, authorization.slice('Bearer '.length));
    await page.waitForSelector('.who');
    expect(await page.textContent('.empty h2')).toBe('Sign in with an operator key');
    expect(await inNavigation(page)).toBe(0);
    expect(requests.filter((at) => at.includes('/v1/operator'))).toEqual([]);
    await context.close();
  });

  test('no unknown key, whose refusal is shown in the dialog', async () => {
    const { page, context } = await openAt(browser, `${routed.url}/operator`);
    await signIn(page, `k_op_${'a'.repeat(32)}`);
    await page.waitForSelector('dialog .wrong >> text=does not know the operator key');
    expect(await inNavigation(page)).toBe(0);
    await context.close();
  });

  test('an operator, until the key is revoked or signed out', async () => {
    const { page, context } = await openOperator();
    expect(await inNavigation(page)).toBe(1);
    expect(await page.textContent('.who')).toContain('Operator key');
    expect(await page.textContent('.banner h2')).toBe('Ready');
    await page.click('text=Sign out');
    await page.waitForSelector('.empty');
    expect(await inNavigation(page)).toBe(0);
    const other = await newOperator(routed.service);
    await signIn(page, other.headers.authorization.slice('Bearer '.length));
    await page.waitForSelector('table[aria-label="Models"]');
    await revokeOperatorKey(routed.service.services.store, other.id, Date.now());
    await page.waitForSelector('.problem >> text=api_key_revoked');
    // What was read before stays, below the reason why nothing newer is there.
    expect(await page.locator('table[aria-label="Models"]').count()).toBe(1);
    await context.close();
  });
});

test('by the keyboard a model is given a rest, the service does not call it, and it is resumed', async () => {
  const { page, context } = await openOperator();
  const row = rowOf(page, 'Models', MODEL);
  expect(await row.textContent()).toContain('Up');
  await row.getByRole('button').focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open]');
  await page.locator('dialog button', { hasText: '1 hour' }).focus();
  await page.keyboard.press('Space');
  await page.locator('dialog button', { hasText: 'Give it a rest' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog', { state: 'detached' });
  await row.locator('text=by order').waitFor();
  await row.locator('td >> text=rested by the operator').waitFor();
  expect((await routed.chat()).json['code']).toBe('no_model_available');
  const [ordered] = await routed.service.services.store.rests.ordered();
  expect(ordered?.remainingMs).toBeGreaterThan(3_500_000);
  await row.getByRole('button').click();
  await page.click('dialog button.primary');
  await row.locator('text=Rest…').waitFor();
  await row.locator('td >> text=Up').waitFor();
  expect((await routed.chat()).status).toBe(200);
  await context.close();
});

test('an order that is refused says so where it was given, and nothing is lost', async () => {
  const { page, context } = await openOperator();
  await context.route('**/v1/operator/**/rest', (route) =>
    route.fulfill({ status: 503, json: { code: 'unavailable', title: 'Not now', detail: 'Come back.' } }),
  );
  await rowOf(page, 'Providers', 'openai').getByRole('button', { name: 'Give a rest' }).click();
  await page.click('dialog button.primary');
  await page.waitForSelector('dialog .problem >> text=Come back.');
  await page.keyboard.press('Escape');
  expect(await page.locator('table[aria-label="Models"]').count()).toBe(1);
  await context.close();
});

test('what waits, what is wrong and who watches stand in their places', async () => {
  const { page, context } = await openOperator();
  await context.route('**/v1/operator/overview', async (route) => {
    const response = await route.fetch();
    const document = await response.json();
    document.health = {
      status: 'unavailable',
      checks: { store: 'ok', posting: 'A posting is overdue by 900 s.' },
    };
    document.refunds = [
      {
        id: 'pay_1',
        state: 'waiting',
        network: 'eip155:8453',
        address: `0x${'a'.repeat(40)}`,
        amount_usdc: '12.500000000',
        reason: 'unknown_account',
        requested_at: document.at,
        note: null,
      },
    ];
    document.log.witnesses = [
      { name: 'witness.example', url: 'https://witness.example', cosigned_size: null, cosigned_at: null },
    ];
    document.catalogue.retiring = [
      { model: MODEL, retires_on: '2027-01-01', days: 3, successors: ['openai/gpt-6'] },
    ];
    document.catalogue.warnings = [{ model: MODEL, code: 'retires_soon' }];
    await route.fulfill({ json: document });
  });
  await page.waitForSelector('.banner[data-state=fail] >> text=A posting is overdue by 900 s.');
  expect(await page.textContent('table[aria-label="Refunds"]')).toContain('$12.50');
  expect(await page.textContent('table[aria-label="Witnesses"]')).toContain('not lately');
  expect(await page.textContent('table[aria-label="Models that retire"]')).toContain('openai/gpt-6');
  await expectAccessible(page, 1280);
  await context.close();
});

test('a link with a key signs in once, and the key leaves the address', async () => {
  const { page, context, requests } = await openAt(browser, `${routed.url}/operator#${key}`);
  await page.waitForSelector('table[aria-label="Providers"]');
  expect(page.url()).toBe(`${routed.url}/operator`);
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  expect(requests.filter((url) => url.includes(key) && !url.endsWith(`#${key}`))).toEqual([]);
  await page.reload();
  await page.waitForSelector('.empty');
  await context.close();
});

test('the key is in no address and no cookie', async () => {
  const { context, page, requests } = await openOperator();
  expect(requests.join()).not.toContain(key);
  expect(await context.cookies()).toEqual([]);
  expect(await page.content()).not.toContain(key);
  expect(keyId).toMatch(/^opk_/);
  await context.close();
});
