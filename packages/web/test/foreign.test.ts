import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ForeignCase } from '../../../scripts/vectors/foreign.ts';
import { bundleOf, readVectors, stores } from '../../core/test/receipt-vectors.ts';
import { builtPage } from '../scripts/page.ts';
import { addBundle, launch, type Opened, open, readShown } from './browser.ts';

let browser: Browser;
let opened: Opened;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** The cases that need nothing which the page can't be given, such as the log of a trust bundle; at most one key. */
const cases = ['acta', 'x402', 'dsse', 'tlog-proof', 'others'].flatMap((name) =>
  readVectors<ForeignCase>(`foreign-${name}.json`).filter(
    ({ log, keys, file }) => log === undefined && keys.length < 2 && file !== '',
  ),
);

async function judge({ file, keys, entry, now }: ForeignCase): Promise<unknown> {
  const { page } = opened;
  await page.click('#clear');
  await page.evaluate(() => {
    for (const panel of document.querySelectorAll('details')) panel.open = true;
  });
  await page.fill('#as-of', now);
  await page.fill('#pinned-key', keys[0] ?? '');
  if (entry !== undefined) {
    await page.setInputFiles('#evidence-file', {
      name: 'entry',
      mimeType: '',
      buffer: Buffer.from(entry, 'hex'),
    });
    await page.waitForSelector('#evidence-source:not(:empty)');
  }
  await page.fill('#receipt', file);
  await page.click('#verify');
  await page.waitForSelector('#result h2');
  return page.evaluate(readShown);
}

test.each(['empty', 'known'] as const)(
  'judged by the bundle %s: the page finds what Node finds',
  async (store) => {
    opened = await open(browser, pathToFileURL(builtPage('verify').pathname).href);
    if (store === 'known') {
      await addBundle(opened.page, await bundleOf(stores[store]));
      await opened.page.waitForSelector('text=Version 1');
    }
    const here = cases.filter(({ trust }) => trust === store);
    expect(here.length).toBeGreaterThan(2);
    const disagreements: object[] = [];
    for (const one of here) {
      const shown = (await judge(one)) as ReturnType<typeof readShown>;
      const found =
        'code' in shown || one.expected === null
          ? {
              foreign: (await opened.page.locator('#result .fine').allTextContents())
                .join()
                .includes(' receipts'),
            }
          : {
              valid: shown.valid,
              integrity: shown.integrity,
              trusted: shown.trusted,
              failed: shown.checks.flatMap(({ name, ok }) => (ok === false ? [name] : [])),
            };
      const { expected } = one;
      const wanted =
        expected === null
          ? { foreign: false }
          : {
              valid: expected.valid,
              integrity: expected.integrity,
              trusted: expected.trusted,
              failed: expected.failed_checks,
            };
      try {
        expect(found).toEqual(wanted);
      } catch {
        disagreements.push({ name: one.name, found, wanted });
      }
    }
    expect(disagreements).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.context.close();
  },
);

test('says what a foreign receipt does not cover, and refuses a text that is no key', async () => {
  opened = await open(browser, pathToFileURL(builtPage('verify').pathname).href);
  const one = cases.find(({ expected, keys }) => expected?.family === 'dsse' && expected.trusted && keys[0]);
  await judge(one!);
  const { page } = opened;
  expect(await page.textContent('#result h2')).toBe('Valid, from a key that you trust');
  expect(await page.locator('#result [data-slot=not] li').count()).toBeGreaterThan(0);
  await page.fill('#pinned-key', 'no key');
  await page.press('#pinned-key', 'Tab');
  await page.waitForSelector('text=The key can’t be read');
  await opened.context.close();
});
