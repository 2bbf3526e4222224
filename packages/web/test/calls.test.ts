import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleOf, callVectors, stores } from '../../core/test/receipt-vectors.ts';
import { builtPage } from '../scripts/page.ts';
import { addBundle, launch, open, readShown, verifyText } from './browser.ts';

let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
  ({ page, complaints } = await open(browser, pathToFileURL(builtPage('verify').pathname).href));
  await addBundle(page, await bundleOf(stores.known));
  await page.waitForSelector('text=Version 1');
});
afterAll(() => browser.close());

/** Drops files onto the page together. */
async function drop(files: Readonly<Record<string, string>>): Promise<void> {
  await page.evaluate((texts) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(texts)) dataTransfer.items.add(new File([text], name));
    dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
  }, files);
}

type Case = (typeof callVectors)[number];

/** Drops the files of a case in an order that helps nobody, and waits until the answer is judged. */
async function judge({ request, response, receipt, now }: Case): Promise<void> {
  await page.click('#clear');
  await page.evaluate(() => document.getElementById('time-panel')?.setAttribute('open', ''));
  await page.fill('#as-of', now);
  await drop({
    'a.txt': response,
    ...(receipt === undefined ? {} : { 'b.json': JSON.stringify(receipt) }),
    'c.json': request,
  });
  // The request is dropped last, and the check of it is null before.
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll<HTMLElement>('#result .every li')];
    const row = rows.find((one) => one.querySelector('.name')?.textContent === 'request');
    return row !== undefined && row.querySelector('.detail')?.textContent !== 'The request was not given.';
  });
}

const named = (name: string): Case[] => callVectors.filter((vector) => vector.name === name);
const chosen = ['in one piece', 'in one piece, answer altered', 'in one piece, receipt given', 'stream']
  .concat('stream, request altered', 'stream, event dropped', 'stream, cut', 'stream, receipt altered')
  .flatMap(named);

describe('a call whose files are dropped together', () => {
  test.each(chosen)('$file: $name', async (vector) => {
    await judge(vector);
    const { valid, integrity, trusted, failed_checks } = vector.expected;
    const shown = await page.evaluate(readShown);
    expect(shown).toMatchObject({ valid, integrity, trusted });
    const checks = 'checks' in shown ? shown.checks : [];
    expect(checks.filter(({ ok }) => ok === false).map(({ name }) => name)).toEqual(failed_checks);
    expect(complaints).toEqual([]);
  });

  test('says what is proved, or what is another', async () => {
    const [whole, altered] = ['in one piece', 'in one piece, answer altered'].map((name) => named(name)[0]!);
    await judge(whole!);
    expect(await page.textContent('#result h2')).toBe('Valid, from an issuer you trust');
    expect(await page.textContent('#result .columns')).toContain('The receipt covers exactly this answer.');
    await judge(altered!);
    expect(await page.textContent('#result h2')).toBe('Not valid: a receipt of another answer');
    await page.click('#clear');
    expect(await page.inputValue('#response')).toBe('');
    expect(await page.isHidden('#result')).toBe(true);
  });
});

test('the second script is text until it is needed', async () => {
  const opened = await open(browser, pathToFileURL(builtPage('verify').pathname).href);
  const ran = () => opened.page.evaluate(() => 'tallystickLater' in globalThis);
  expect(await ran()).toBe(false);
  expect(readFileSync(builtPage('verify'), 'utf8')).toContain('type="text/plain" id="later"');
  const [receipt] = named('in one piece, receipt given').map(({ receipt }) => JSON.stringify(receipt));
  await verifyText(opened.page, receipt ?? '');
  expect(await opened.page.evaluate(readShown)).toMatchObject({ valid: true });
  expect(await ran()).toBe(false);
  await opened.page.evaluate(() => document.getElementById('response-panel')?.setAttribute('open', ''));
  await opened.page.fill('#response', '{"choices":[],"svc":{}}');
  await opened.page.click('#verify');
  await opened.page.waitForSelector('#result h2');
  expect(await ran()).toBe(true);
  expect(opened.complaints).toEqual([]);
  await opened.context.close();
});
