import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runningClock, startTestService, type TestService, testClock } from '../../server/test/service.ts';
import { expectAccessible, LOOKS, lookOf } from './axe.ts';
import { launch, type Opened, openAt } from './browser.ts';

let browser: Browser;
let service: TestService;
let origin: string;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: runningClock() });
  origin = await service.listen();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

async function visit(path: string, options: BrowserContextOptions = {}, url = origin): Promise<Opened> {
  const opened = await openAt(browser, `${url}${path}`, options);
  closing.push(() => opened.context.close());
  return opened;
}

/** A service that nobody has used yet, and that has no chain. */
async function untouched(env: Record<string, string> = {}): Promise<string> {
  const other = await startTestService({ clock: testClock(Date.now()), env });
  closing.push(() => other.close());
  return other.listen();
}

/** Asserts that the page asked nobody but its own service, and that nothing went wrong in it. */
function expectQuiet({ requests, complaints }: Opened, url = origin): void {
  const strangers = requests.filter(
    (address) => !['data:', 'blob:', `${url}/`].some((own) => address.startsWith(own)),
  );
  expect(strangers).toEqual([]);
  expect(complaints).toEqual([]);
}

const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText();
const stateOf = (page: Page, selector: string) => page.getAttribute(`${selector} .verdict`, 'data-state');

async function mint(page: Page): Promise<void> {
  await page.click('#mint-button');
  await page.waitForSelector('#verdict .verdict');
}

test.each(LOOKS)(
  'at %i px, %s, a receipt that holds and one that was changed: nothing for axe, no overflow',
  async (width, look) => {
    const { page } = await visit('/', lookOf(width, look));
    await expectAccessible(page, width);
    await mint(page);
    await expectAccessible(page, width);
    await page.click('#tamper');
    await page.waitForSelector('#verdict .verdict[data-state=fail]');
    await expectAccessible(page, width);
  },
);

describe('the landing page', () => {
  test('mints a receipt and finds it valid', async () => {
    const opened = await visit('/');
    const { page } = opened;
    await page.fill('#about', 'seven knots');
    await page.fill('#purpose', 'a “test” <b>');
    await mint(page);
    expect(await stateOf(page, '#verdict')).toBe('pass');
    expect(await textOf(page, '#verdict h3')).toBe('Valid, and signed by this service');
    expect(await textOf(page, '#verdict [data-slot=trust]')).toContain('Only this site vouches for the key.');
    expect(await textOf(page, '#verdict .fine')).toMatch(/^\d+ checks passed, 0 failed/);
    const receipt = JSON.parse(await page.inputValue('#receipt'));
    expect(receipt.request.purpose).toBe('a “test” <b>');
    expect(await page.getAttribute('#halves', 'data-state')).toBe('pass');
    expect(await page.getAttribute('#take a >> nth=1', 'href')).toBe(`/receipts#${receipt.receipt_id}`);
    expect((await service.get(`/v1/receipt/${receipt.receipt_id}`)).status).toBe(200);
    expectQuiet(opened);
  });

  test('one character changed fails, by the button and by hand; put back it holds again', async () => {
    const { page } = await visit('/');
    await mint(page);
    const signed = await page.inputValue('#receipt');
    await page.click('#tamper');
    await page.waitForSelector('#verdict .verdict[data-state=fail]');
    const changed = await page.inputValue('#receipt');
    expect(changed).toHaveLength(signed.length);
    expect(Array.from(changed).filter((character, at) => character !== signed[at])).toHaveLength(1);
    expect(await textOf(page, '#verdict h3')).toBe('Not valid: changed or forged');
    expect(await page.getAttribute('#halves', 'data-state')).toBe('fail');
    const selected = await page.evaluate(() => {
      const box = document.activeElement as HTMLTextAreaElement;
      return box.value.slice(box.selectionStart, box.selectionEnd);
    });
    expect(selected).toBe('b');
    await page.click('#restore');
    await page.waitForSelector('#verdict .verdict[data-state=pass]');
    expect(await page.inputValue('#receipt')).toBe(signed);
    await page.fill('#receipt', signed.replace('"sealed": null', '"sealed": true'));
    await page.waitForSelector('#verdict .verdict[data-state=fail]');
    await page.fill('#receipt', JSON.stringify(JSON.parse(signed)));
    await page.waitForSelector('#verdict .verdict[data-state=pass]');
    await page.fill('#receipt', signed.slice(1));
    await page.waitForSelector('#verdict .verdict[data-state=fail]');
    expect(await textOf(page, '#verdict h3')).toBe('No longer a receipt');
  });

  test('says why nothing was minted: no text, no network, no free mint left', async () => {
    const url = await untouched({ TALLY_FREE_MINT_PER_DAY: '1' });
    const { page, context } = await visit('/', {}, url);
    await page.fill('#about', '');
    await page.click('#mint-button');
    expect(await textOf(page, '#mint-error')).toContain('Say what happened');
    await page.fill('#about', 'x');
    await mint(page);
    await page.click('#mint-button');
    await page.waitForSelector('#mint-error .refusal');
    expect(await textOf(page, '#mint-error')).toMatch(/Not minted\..* Try again in \d+ s/s);
    await context.setOffline(true);
    await page.click('#mint-button');
    await page.waitForFunction(() => document.querySelector('#mint-error')?.textContent?.includes('reached'));
    expect(await page.isEnabled('#mint-button')).toBe(true);
  });

  test('from the keyboard alone', async () => {
    const { page } = await visit('/');
    await page.focus('#purpose');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#verdict .verdict[data-state=pass]');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('bench-title');
    await page.focus('#tamper');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#verdict .verdict[data-state=fail]');
    expect(await textOf(page, '#announcement')).toMatch(/^Changed “d” to “b” in purpose\.$/);
  });

  test('can’t be made to ask anybody else', async () => {
    const { page } = await visit('/');
    const reached = await page.evaluate(async () => {
      const stranger = location.origin.replace('127.0.0.1', 'localhost');
      return fetch(`${stranger}/healthz`).then(
        () => true,
        () => false,
      );
    });
    expect(reached).toBe(false);
  });
});
