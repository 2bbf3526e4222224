import { pathToFileURL } from 'node:url';
import { parseJson, utf8 } from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CorrectionCase } from '../../../scripts/vectors/corrections.ts';
import { bundleOf, readVectors, stores } from '../../core/test/receipt-vectors.ts';
import { builtPage } from '../scripts/page.ts';
import { expectAccessible } from './axe.ts';
import { addBundle, launch, type Opened, open } from './browser.ts';

const address = pathToFileURL(builtPage('verify').pathname).href;
const vectors = readVectors<CorrectionCase>('corrections.json');
const caseOf = (name: string): CorrectionCase => {
  const found = vectors.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case ${name}.`);
  return found;
};

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** Opens the page from disk and offline, with the trust and the time of a case. */
async function openFor({ trust, now }: CorrectionCase, width = 1440): Promise<Opened> {
  const opened = await open(browser, address, {
    viewport: { width, height: 900 },
  });
  const { page, context } = opened;
  await context.setOffline(true);
  if (trust !== 'empty') {
    await addBundle(page, await bundleOf(stores[trust]));
    await page.waitForSelector('text=Version 1');
  }
  await setTime(page, now);
  return opened;
}

async function setTime(page: Page, now: string): Promise<void> {
  await page.evaluate(() => document.getElementById('time-panel')?.setAttribute('open', ''));
  await page.fill('#as-of', now);
  await page.locator('#as-of').blur();
}

/** Drops documents onto the page together, as files 1.json, 2.json and so on. */
async function drop(page: Page, documents: readonly unknown[]): Promise<void> {
  const texts = documents.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  await page.evaluate((all) => {
    const dataTransfer = new DataTransfer();
    for (const [index, text] of all.entries()) dataTransfer.items.add(new File([text], `${index + 1}.json`));
    dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
  }, texts);
}

/** What the lists below the verdict say, each line with the state that its icon shows. */
const shown = (page: Page) =>
  page.$$eval('.together ul', (lists) =>
    lists.map((list) =>
      [...list.children].map((item) => ({
        state: item.getAttribute('data-state'),
        text: item.textContent ?? '',
      })),
    ),
  );

const together = vectors.filter(({ documents }) => documents.length > 1);

describe.each(together)('corrections.json: $name', (one) => {
  const { documents, expected } = one;
  test('judges each by itself, and says what the links say', async () => {
    const { page, context, requests, complaints } = await openFor(one);
    await drop(page, documents);
    await page.waitForSelector('.together');
    const [receipts = [], corrections = []] = await shown(page);
    expect(receipts).toHaveLength(documents.length);
    expect(corrections.map(({ state }) => state)).toEqual(
      expected.map(({ valid }) => (valid ? 'pass' : 'fail')),
    );
    for (const [index, { receipt_id, valid }] of expected.entries()) {
      const text = corrections[index]?.text ?? '';
      expect(text).toContain(receipt_id);
      expect(text.includes('is superseded and proves what it proved')).toBe(valid);
    }
    // Each verdict is the one that the receipt has alone.
    for (const [index, document] of documents.entries()) {
      await page.click('#clear');
      await setTime(page, one.now);
      await page.fill('#receipt', JSON.stringify(document));
      await page.click('#verify');
      await page.waitForSelector('#result h2');
      const title = await page.innerText('#result h2');
      expect(receipts[index]?.text).toContain(`${index + 1}.json: ${title}`);
      expect(await page.$$('.together')).toHaveLength(0);
    }
    expect(requests.filter((url) => url !== address)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test.each([390, 1440])('at %i px, what is shown below the verdict is accessible', async (width) => {
  const { page, context } = await openFor(caseOf('two for one receipt'), width);
  await drop(page, caseOf('two for one receipt').documents);
  await page.waitForSelector('.together');
  await expectAccessible(page, width);
  await context.close();
});

test('is judged again with other trust, and gone with another receipt', async () => {
  const one = caseOf('an envelope');
  const { page, context } = await openFor({ ...one, trust: 'empty' });
  await drop(page, one.documents);
  await expect.poll(() => shown(page)).toHaveLength(2);
  expect((await shown(page))[0]?.map(({ state }) => state)).toEqual(['unsure', 'unsure', 'unsure']);
  expect((await shown(page))[1]?.[0]?.text).toContain('no trust bundle that you use says whose it is');
  await addBundle(page, await bundleOf(stores.known));
  await expect
    .poll(async () => (await shown(page))[0]?.map(({ state }) => state))
    .toEqual(['pass', 'pass', 'pass']);
  await page.fill('#receipt', JSON.stringify(one.documents[0]));
  await expect.poll(() => shown(page)).toEqual([]);
  await page.click('#verify');
  await page.waitForSelector('#result h2');
  await drop(page, one.documents.slice(0, 2));
  await expect.poll(async () => (await shown(page)).map((list) => list.length)).toEqual([2]);
  await context.close();
});

test('a file that is no JSON and one of another maker are named, and files that are no receipts are not', async () => {
  const one = caseOf('an envelope');
  const { page, context } = await openFor(one);
  const { request } = parseJson(utf8(JSON.stringify(one.documents[0]))) as Record<string, unknown>;
  await drop(page, ['{"cut', { acta: 1 }, '[{"unit":1}]', one.documents[0], { messages: [request] }]);
  await page.waitForSelector('.together');
  const [receipts = []] = await shown(page);
  expect(receipts.map(({ state, text }) => [state, text.split(':')[0]])).toEqual([
    ['fail', '1.json'],
    ['unknown', '2.jsonIts form is none that can be corrected'],
    ['pass', '4.json'],
  ]);
  await context.close();
});

/** Drops a folder before documents; a script can't put one into a drop, so its file answers as browsers do for a folder. */
async function dropFolder(page: Page, documents: readonly unknown[]): Promise<void> {
  const texts = documents.map((one) => JSON.stringify(one));
  await page.evaluate((all) => {
    const folder = new File([], 'papers');
    folder.arrayBuffer = async () => {
      throw new DOMException('A requested file or directory could not be found.', 'NotFoundError');
    };
    const files = [folder, ...all.map((text, index) => new File([text], `${index + 1}.json`))];
    dispatchEvent(Object.assign(new Event('drop'), { dataTransfer: { files } }));
  }, texts);
}

test('a folder counts as an empty file: alone, in place of the verdict before, and among receipts', async () => {
  const one = caseOf('an envelope');
  const { page, context, complaints } = await openFor(one);
  await drop(page, one.documents.slice(0, 1));
  await page.waitForSelector('#result .verdict[data-state=pass]');
  await dropFolder(page, []);
  await page.waitForSelector('#result .verdict[data-state=fail]');
  expect(await page.innerText('#result h2')).toBe('The receipt can’t be read');
  expect(await page.innerText('#result')).toContain('Of a folder, open or drop the files in it.');
  expect(await page.innerText('#receipt-source')).toContain('papers, 0 bytes');
  await expectAccessible(page, 1440);
  await dropFolder(page, one.documents.slice(0, 1));
  await page.waitForSelector('.together');
  expect(await page.getAttribute('#result .verdict', 'data-state')).toBe('pass');
  const [receipts = []] = await shown(page);
  expect(receipts.map(({ state }) => state)).toEqual(['fail', 'pass']);
  expect(receipts[0]?.text).toContain('papers: The receipt can’t be read');
  expect(complaints).toEqual([]);
  await context.close();
});
