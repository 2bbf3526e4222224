import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import decodeQr from 'qr/decode.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTenant } from '../../server/test/tenant.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { keysHeard, launch, type Opened, openAt } from './browser.ts';
import { type AccountSite, startAccountSite } from './console-account-site.ts';

let browser: Browser;
let site: AccountSite;
beforeAll(async () => {
  browser = await launch();
  site = await startAccountSite();
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

/** Adds up how far the page's parts move without being asked to. */
const SHIFTS = `
globalThis.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifted += entry.value;
}).observe({ type: 'layout-shift', buffered: true });`;

/** Opens a page of the console, signed in with a key. @param key null for nobody */
async function visit(
  path: string,
  key: string | null = site.mine.key,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank', options);
  await opened.page.addInitScript(SHIFTS);
  if (key !== null) await opened.page.addInitScript(`sessionStorage.setItem('tallystick-session', '${key}')`);
  await opened.page.goto(site.url + path);
  return opened;
}

const activeText = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '');

/** Presses Tab until the focus is on something with this text, or on the control with this label. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(() => {
      const active = document.activeElement;
      const labels = active instanceof HTMLInputElement ? [...(active.labels ?? [])] : [];
      return [
        active?.textContent,
        active?.getAttribute('aria-label'),
        ...labels.map((one) => one.textContent),
      ];
    });
    if (found.some((text) => text?.trim() === name)) return;
  }
  throw new Error(`Tab does not lead to ${name}, but to ${await activeText(page)}.`);
}

/** What the pages can look like: where, what is waited for, and what is pressed. */
const STATES: readonly (readonly [path: string, until: string, ...press: string[]])[] = [
  ['/keys', '.list tbody tr', 'text=nightly batch', 'text=Rotate…'],
  ['/keys', '.list tbody tr', 'text=Make a key'],
  ['/webhooks', '.empty', 'text=Make the first webhook'],
  ['/balance', '.list tbody tr', 'text=Top up'],
  ['/balance?view=usage', '.list tbody tr'],
  ['/members', '.list tbody tr, .empty', '.title .primary'],
];

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  test.each(STATES)(
    '%s, then %s: nothing for axe, nothing moves, nothing from elsewhere',
    async (path, until, ...press) => {
      const { page, context, complaints, requests } = await visit(path, site.mine.key, lookOf(width, look));
      await page.waitForSelector(until);
      await page.waitForLoadState('networkidle');
      await expectAccessible(page, width);
      expect(await page.evaluate('globalThis.shifted')).toBeLessThan(0.05);
      for (const selector of press) {
        await page.click(selector);
        await page.waitForSelector('dialog[open]');
        await expectAccessible(page, width);
      }
      expect(complaints).toEqual([]);
      expect(requests.filter((url) => !url.startsWith(`${site.url}/`) && url !== 'about:blank')).toEqual([]);
      await context.close();
    },
  );
});

describe('whoever is not the owner', () => {
  test.each(['/keys', '/webhooks'])(
    'is asked to sign in at %s, and a key that only calls is told why not',
    async (path) => {
      const stranger = await visit(path, null);
      if (path === '/keys') {
        await stranger.page.waitForSelector('.empty >> text=Sign in to see your keys');
        await expectAccessible(stranger.page, 1280);
        await stranger.page.click('.empty .primary');
        await stranger.page.waitForSelector('dialog[open] #sign-in-key');
      }
      await stranger.context.close();
      const made = await visit(path, site.mine.made);
      await made.page.waitForSelector('.empty >> text=This key may not manage its account');
      if (path === '/keys') {
        await made.page.waitForSelector('#own-limits >> text=What this key may spend');
        await made.page.waitForSelector('.figures:not(.waiting)');
        await expectAccessible(made.page, 1280);
      }
      await made.context.close();
    },
  );

  test('sees nothing of another account on any page, nor does a tenant', async () => {
    const tenant = (await newTenant(site.service)).headers.authorization.replace('Bearer ', '');
    for (const key of [site.theirs.key, tenant]) {
      for (const path of [
        '/keys',
        `/keys?key=${site.mine.madeId}`,
        '/webhooks',
        '/balance',
        '/balance?view=usage',
      ]) {
        const { page, context } = await visit(path, key);
        await page.waitForSelector('.list tbody tr, .empty, .problem');
        await page.waitForLoadState('networkidle');
        const shown = await page.content();
        for (const secret of [site.mine.id, site.mine.madeId, 'nightly batch'])
          expect(shown, `${path} ${secret}`).not.toContain(secret);
        expect(await page.locator('dialog').count()).toBe(0);
        await context.close();
      }
    }
  });

  test('loses sight of everything when another signs in', async () => {
    const { page, context } = await visit('/keys');
    await page.waitForSelector('text=nightly batch');
    await page.click('text=Sign out');
    await page.waitForSelector('.empty >> text=Sign in');
    expect(await page.content()).not.toContain('nightly batch');
    await context.close();
  });
});

describe('keys', () => {
  test('by keyboard alone: a key is made with a budget, works, is limited anew, and is revoked', async () => {
    const { page, context } = await visit('/keys');
    await page.waitForSelector('.list tbody tr');
    await tabTo(page, 'Make a key');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.type('by keyboard');
    await tabTo(page, 'USDC a day');
    await page.keyboard.type('1.5');
    await tabTo(page, 'Models');
    await page.keyboard.type('gpt-4o-mini');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.secret');
    const key = (await page.textContent('.secret code')) ?? '';
    expect(await page.textContent('.snippet')).toContain(`OPENAI_API_KEY=${key}`);
    expect((await page.textContent('.snippet'))?.split('\n')).toHaveLength(3);
    expect((await site.chat({ max_tokens: 20 }, { authorization: `Bearer ${key}` })).status).toBe(200);
    await tabTo(page, 'I have copied it');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('.list >> text=by keyboard');
    expect(await page.content()).not.toContain(key);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog >> text=Rotate…');
    await tabTo(page, 'USDC a day');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('2.25');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('.list >> text=$2.25');
    // The focus is back on the row that the dialog was opened from.
    expect(await activeText(page)).toBe('by keyboard');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Revoke…');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog >> text=Revoke this key?');
    await tabTo(page, 'Revoke');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.list >> text=Revoked');
    expect((await site.chat({}, { authorization: `Bearer ${key}` })).status).toBe(401);
    await context.close();
  });

  test('a new secret stays until it is said to be copied, whatever is pressed and clicked beside it', async () => {
    const { page, context, complaints } = await visit('/keys');
    await page.click('text=Make a key');
    await page.fill('dialog input', 'kept in sight');
    await page.click('dialog .primary');
    await page.waitForSelector('.secret');
    const key = (await page.textContent('.secret code')) ?? '';
    await page.mouse.click(3, 3);
    // A browser closes a dialog at the second Escape, even if its page refuses the first.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
    await keysHeard(page);
    expect(await page.textContent('dialog[open] .secret code')).toBe(key);
    expect(await page.evaluate(() => document.querySelector('dialog')?.matches(':modal'))).toBe(true);
    await expectAccessible(page, 1280);
    await page.click('text=I have copied it');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('a rotated key has a new secret, and the one before stops', async () => {
    const { page, context } = await visit('/keys', site.theirs.key);
    await page.click('text=of another account');
    await page.click('text=Rotate…');
    await page.selectOption('dialog select', '0');
    await page.click('dialog .primary');
    await page.waitForSelector('.secret');
    const key = (await page.textContent('.secret code')) ?? '';
    expect((await site.chat({ max_tokens: 20 }, { authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await site.chat({}, { authorization: `Bearer ${site.theirs.made}` })).status).toBe(401);
    await context.close();
  });

  test('the account’s own key is not for limiting, and spending stands beside its budget', async () => {
    const { page, context } = await visit('/keys');
    await page.waitForSelector('.badge >> text=Account’s own');
    const row = page.locator('tr', { hasText: 'nightly batch' });
    expect(await row.locator('[role=meter]').first().getAttribute('aria-valuenow')).toBe('50');
    await page.click(`a.row:has-text("${site.mine.id}")`);
    await page.waitForSelector('dialog >> text=only the operator limits or revokes it');
    expect(await page.locator('dialog .danger').count()).toBe(0);
    await context.close();
  });

  test('what is refused is said at its field', async () => {
    const { page, context } = await visit('/keys');
    await page.click('text=Make a key');
    const wrongAt = async (label: string, value: string): Promise<string | null> => {
      const field = page.locator('dialog .field', { has: page.getByLabel(label, { exact: true }) });
      await field.locator('input').fill(value);
      await page.click('dialog .primary');
      await field.locator('.wrong').waitFor();
      expect(await page.locator('dialog .wrong, dialog .problem').count()).toBe(1);
      expect(await field.locator('input').getAttribute('aria-invalid')).toBe('true');
      const text = await field.locator('.wrong').textContent();
      await field.locator('input').fill('');
      return text;
    };
    expect(await wrongAt('USDC a day', 'a lot')).toContain('decimal USDC');
    expect(await wrongAt('Calls a minute', '1.5')).toContain('limits.requests_per_minute');
    expect(await wrongAt('A call', '-1')).toContain('decimal USDC');
    expect(await wrongAt('Models', 'no-such-model')).toContain('the catalogue has no such name');
    await context.close();
  });
});

describe('webhooks', () => {
  test('one is made, tested, repeated, paused and deleted', async () => {
    const { page, context } = await visit('/webhooks');
    await page.click('text=Make the first webhook');
    await page.fill('dialog input[type=text]', 'ftp://example.com/');
    await page.click('dialog .primary');
    await page.waitForSelector('dialog .field .wrong >> text=is not an https URL');
    await page.fill('dialog input[type=text]', site.receiver);
    for (const box of await page.locator('dialog [type=checkbox]').all()) await box.setChecked(false);
    await page.click('dialog .primary');
    await page.waitForSelector('dialog fieldset .wrong');
    await page.check('dialog [type=checkbox] >> nth=0');
    await page.click('dialog .primary');
    await page.waitForSelector('.secret');
    const secret = (await page.textContent('.secret code')) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await page.click('text=I have copied it');
    await page.click('a.row');
    await page.waitForSelector('.empty >> text=Nothing sent yet');
    expect(await page.content()).not.toContain(secret);
    await page.click('text=Send a test');
    await page.waitForSelector('.badge >> text=Delivered');
    expect(site.got).toHaveLength(1);
    await page.click('text=Send again');
    await expect.poll(() => site.got.length).toBe(2);
    expect(site.got[1]).toBe(site.got[0]);
    await page.waitForSelector('.badge >> text=Delivered');
    await page.click('a.row');
    await page.waitForSelector('dialog .snippet >> text=webhook.test');
    await expectAccessible(page, 1280);
    await page.click('dialog >> text=Send again');
    await page.waitForSelector('dialog', { state: 'detached' });
    await expect.poll(() => site.got.length).toBe(3);
    await page.click('text=Rotate…');
    await page.selectOption('dialog select', '86400');
    await expectAccessible(page, 1280);
    await page.click('dialog .primary');
    const rotated = (await page.textContent('.secret code')) ?? '';
    expect(rotated).toMatch(/^whsec_/);
    expect(rotated).not.toBe(secret);
    await page.click('text=I have copied it');
    await page.waitForSelector('.terms >> text=The one before signs as well until');
    await page.click('text=Pause');
    await page.waitForSelector('.badge >> text=Paused');
    expect(await page.isDisabled('text=Send a test')).toBe(true);
    await page.click('text=Resume');
    await page.waitForSelector('.badge >> text=Active');
    await expectAccessible(page, 1280);
    await page.click('text=Delete…');
    await page.click('dialog .danger');
    await page.waitForURL('**/webhooks');
    await page.waitForSelector('.empty >> text=No webhooks yet');
    await context.close();
  });
});

interface Entries {
  readonly data: readonly { readonly at: string; readonly amount_usdc: string }[];
}

async function entriesOf(key: string): Promise<Entries> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${site.url}/v1/balance/entries`, { headers });
  return (await response.json()) as Entries;
}

/** What a telephone reads of the QR code that is drawn. */
async function scanned(page: Page): Promise<string> {
  await page.waitForSelector('.qr path[d^=M]');
  const [size, shape] = await page
    .locator('.qr')
    .evaluate(
      (svg) =>
        [
          Number(svg.getAttribute('viewBox')?.split(' ')[2]),
          svg.firstElementChild?.getAttribute('d'),
        ] as const,
    );
  const scale = 4;
  const width = size * scale;
  const data = new Uint8ClampedArray(4 * width * width).fill(255);
  for (const [, x, y] of (shape ?? '').matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let pixel = 0; pixel < scale * scale; pixel += 1) {
      const [left, top] = [
        Number(x) * scale + (pixel % scale),
        Number(y) * scale + Math.floor(pixel / scale),
      ];
      data.fill(0, 4 * (top * width + left), 4 * (top * width + left) + 3);
    }
  return decodeQr({ width, height: width, data });
}

describe('the balance', () => {
  test('is topped up by a transfer, whose QR code says exactly what is to be paid', async () => {
    const { page, context } = await visit('/balance', site.theirs.key);
    await page.click('text=Top up');
    await page.fill('dialog input', 'lots');
    await page.click('dialog .primary');
    await page.waitForSelector('dialog .field .wrong');
    await page.fill('dialog input', '3');
    const [answer] = await Promise.all([
      page.waitForResponse('**/v1/balance/quote'),
      page.click('dialog .primary'),
    ]);
    const quote = (await answer.json()) as { pay_to: string; asset: string; amount: string };
    expect(await scanned(page)).toBe(
      `ethereum:${quote.asset}@31337/transfer?address=${quote.pay_to}&uint256=${quote.amount}`,
    );
    await expectAccessible(page, 1280);
    await site.transfer(quote.pay_to, BigInt(quote.amount));
    await page.waitForSelector('dialog >> text=The transfer is in your account.');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.list >> text=top-up');
    await page.waitForSelector('.figures dd >> text=/^\\$28\\.0/');
    await context.close();
  });

  test('is topped up by x402 with the wallet of the browser, unless its owner declines', async () => {
    const opened = await openAt(browser, 'about:blank');
    let declines = true;
    await site.addWallet(opened.context, () => declines);
    const { page, context } = opened;
    await page.addInitScript(`sessionStorage.setItem('tallystick-session', '${site.theirs.key}')`);
    await page.goto(`${site.url}/balance`);
    await page.click('text=Top up');
    await page.click('text=By x402');
    await page.fill('dialog input', '2');
    await page.click('dialog .primary');
    await page.click('text=Pay with this browser’s wallet');
    await page.waitForSelector('dialog .wrong >> text=User rejected the request');
    declines = false;
    await page.click('text=Pay with this browser’s wallet');
    await page.waitForSelector('dialog >> text=$2.00');
    await page.waitForSelector('dialog >> text=is in your account.');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('.list >> text=x402 exact');
    expect(await page.locator('.list >> text=x402 exact').count()).toBe(1);
    await context.close();
  });

  test('sends the payment that had no answer again, instead of a second one, also from another dialog and another page', async () => {
    const { page, context } = await openAt(browser, 'about:blank');
    let signatures = 0;
    await site.addWallet(context, () => {
      signatures++;
      return false;
    });
    let answers = false;
    await context.route('**/v1/balance/topup', async (route) => {
      // The service takes the payment, and its answer is lost.
      const response = await route.fetch();
      if (answers || response.status() === 402) await route.fulfill({ response });
      else await route.abort();
    });
    await page.addInitScript(`sessionStorage.setItem('tallystick-session', '${site.theirs.key}')`);
    await page.goto(`${site.url}/balance`);
    const show = async (amount: string): Promise<void> => {
      await page.click('text=Top up');
      await page.click('text=By x402');
      await page.fill('dialog input', amount);
      await page.click('dialog .primary');
    };
    const paid = async (): Promise<number> => {
      const { data } = await entriesOf(site.theirs.key);
      return data.filter(({ amount_usdc: amount }) => amount === '3').length;
    };
    await show('3');
    await page.click('text=Pay with this browser’s wallet');
    await page.waitForSelector('dialog .problem');
    await expectAccessible(page, 1280);
    expect([signatures, await paid()]).toEqual([1, 1]);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    answers = true;
    await show('3.00');
    await page.waitForSelector('text=Send the same payment again');
    await page.reload();
    await show('3.00');
    await page.click('text=Send the same payment again');
    await page.waitForSelector('dialog >> text=$3.00');
    await page.waitForSelector('dialog >> text=is in your account.');
    expect([signatures, await paid()]).toEqual([1, 1]);
    await page.keyboard.press('Escape');
    // One that was settled is over.
    await show('3');
    await page.click('text=Pay with this browser’s wallet');
    await page.waitForSelector('dialog >> text=is in your account.');
    expect([signatures, await paid()]).toEqual([2, 2]);
    await context.close();
  });

  test('without a wallet shows the request that an x402 client sends', async () => {
    const { page, context } = await visit('/balance');
    await page.click('text=Top up');
    await page.click('text=By x402');
    await page.fill('dialog input', '2');
    await page.click('dialog .primary');
    await page.waitForSelector('dialog >> text=This browser has no wallet');
    expect(await page.textContent('.snippet')).toContain(
      `curl -i ${site.url}/v1/balance/topup -H 'Content-Type: application/json' -d '{"amount":"2","account":"${site.mine.id}"}'`,
    );
    await expectAccessible(page, 1280);
    await context.close();
  });

  test('has a statement by day, of the days that are chosen, and as a file', async () => {
    const { page, context } = await visit('/balance');
    await page.waitForSelector('.list tbody tr');
    const groups = await page.locator('.group').allTextContents();
    // Other tests call as well, before and after a midnight.
    const { data } = await entriesOf(site.mine.key);
    const days = Map.groupBy(data, ({ at }) => at.slice(0, 10));
    const [called, topUps] = [[...days].slice(0, -2), [...days].slice(-2)];
    expect(groups).toEqual([
      ...called.map(([, entries]) => expect.stringContaining(`${entries.length} entr`)),
      expect.stringContaining('+$5.00'),
      expect.stringContaining('+$20.00'),
    ]);
    // So narrow that the sums of a small account are as long as those of a large one at 390 px.
    await page.setViewportSize({ width: 200, height: 844 });
    const beyond = await page.locator('.list').evaluate((list) => {
      const sums = document.createRange();
      sums.selectNodeContents(list.querySelector('.group th') ?? list);
      return sums.getBoundingClientRect().right - list.getBoundingClientRect().right;
    });
    expect(beyond).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 390, height: 844 });
    const lineOf = async (text: string): Promise<number> => {
      const box = await page.locator('.days').getByText(text, { exact: true }).boundingBox();
      return Math.round((box?.y ?? NaN) + (box?.height ?? NaN) / 2);
    };
    expect(Math.abs((await lineOf('Days in UTC')) - (await lineOf('All')))).toBeLessThan(3);
    const day = topUps[0]?.[0] ?? '';
    await page.fill('.days input >> nth=1', day);
    await page.waitForURL(`**/balance?to=${day}`);
    await page.waitForFunction(() => document.querySelectorAll('.group').length === 2);
    await page.evaluate('delete globalThis.showSaveFilePicker');
    await page.click('text=Export');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=CSV')]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines.map((line) => line.split(',').slice(2, 5).join())).toEqual([
      'amount_usdc,balance_usdc,memo',
      '5,25,top-up',
      '20,20,top-up',
    ]);
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.click('text=By day and model');
    await page.waitForSelector('.empty >> text=No calls on these days');
    await page.click('.days >> text="All"');
    await page.waitForSelector('.list >> text=gpt-4o-mini');
    await context.close();
  });
});

describe('members', () => {
  test('are listed with their tiers, and a DID is registered in place', async () => {
    const stranger = await visit('/leaderboard', null);
    await stranger.page.waitForURL('**/members');
    await stranger.page.waitForSelector('.empty >> text=Sign in to see the members');
    await stranger.context.close();
    const { page, context } = await visit('/members');
    await page.waitForSelector('.empty >> text=Nobody has registered yet');
    await page.waitForSelector('.figures:not(.waiting)');
    expect(await page.locator('.figures dd').allTextContents()).toEqual([
      '35 % of the saving',
      '40 % of the saving',
      '50 % of the saving',
    ]);
    await page.click('.empty .primary');
    await page.fill('dialog input >> nth=0', 'did:none');
    await page.click('dialog .primary');
    await page.waitForSelector('dialog .field .wrong');
    await page.fill('dialog input >> nth=0', 'did:web:one.example');
    await page.fill('dialog input >> nth=1', 'Not A Handle');
    await page.click('dialog .primary');
    await page.waitForSelector('dialog .field:has([placeholder=quipu]) .wrong');
    await page.fill('dialog input >> nth=1', 'one');
    await page.click('dialog .primary');
    await page.waitForSelector('dialog >> text=one is a member in the tier Member.');
    await page.click('text=Done');
    await page.click('a.row');
    await page.waitForSelector('dialog >> text=did:web:one.example');
    await context.close();
  });

  test('the page of usage has moved to the calls', async () => {
    const { page, context } = await visit('/usage', null);
    await page.waitForURL('**/activity');
    expect(await page.textContent('h1')).toBe('Calls');
    await context.close();
  });
});
