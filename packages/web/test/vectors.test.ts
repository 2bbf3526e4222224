import type { Verification } from '@tallystick/core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReceiptCase } from '../../../scripts/vectors/cases.ts';
import { bundleOf, bytesOf, inCore, receiptCases, stores } from '../../core/test/receipt-vectors.ts';
import { builtPage } from '../scripts/page.ts';
import { addBundle, launch, open, readShown } from './browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

function essence(verdict: Verification): object {
  const { valid, integrity, issuer, checks } = verdict;
  return {
    valid,
    integrity,
    trusted: issuer.trusted,
    checks: checks.map(({ name, ok }) => `${name}: ${ok}`).sort(),
  };
}

describe.each(Object.entries(stores))('judged by the store %s', (store, issuers) => {
  const here = receiptCases.filter(({ trust }) => trust === store);

  test(`the page and Node agree on all ${here.length} vectors`, async () => {
    const { page, context, complaints } = await open(browser, builtPage.href);
    await addBundle(page, await bundleOf(issuers));
    await page.waitForSelector('text=Remembered in this browser');
    const disagreements: object[] = [];
    for (const vector of here) {
      await ask(page, vector);
      const shown = await page.evaluate(readShown);
      const expected = await inCore(vector);
      const found =
        'code' in shown
          ? { code: shown.code }
          : {
              ...shown,
              title: undefined,
              checks: shown.checks.map(({ name, ok }) => `${name}: ${ok}`).sort(),
            };
      const wanted = 'code' in expected ? expected : essence(expected);
      try {
        expect(found).toEqual(wanted);
      } catch {
        disagreements.push({ file: vector.file, name: vector.name, found, wanted });
      }
    }
    expect(disagreements).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test('every vector is asked about', () => {
  const names = new Set(receiptCases.map(({ trust }) => trust));
  expect([...names].filter((name) => !(name in stores))).toEqual([]);
});

/** Fills the form as a reader would, with files, and waits for the verdict. */
async function ask(page: Awaited<ReturnType<typeof open>>['page'], vector: ReceiptCase): Promise<void> {
  const input = {
    receipt: bytesOf(vector).toString('base64'),
    evidence:
      vector.evidence === undefined ? null : Buffer.from(JSON.stringify(vector.evidence)).toString('base64'),
    asOf: vector.now,
    anchoredAt: vector.anchored_at ?? '',
  };
  await page.evaluate(async ({ receipt, evidence, asOf, anchoredAt }) => {
    const field = (id: string) => document.getElementById(id) as HTMLInputElement;
    const changed = (id: string) =>
      new Promise((resolve) => new MutationObserver(resolve).observe(field(id), { childList: true }));
    const choose = (id: string, base64: string) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], `${id}.json`));
      field(id).files = transfer.files;
      field(id).dispatchEvent(new Event('change'));
    };
    const cleared = changed('trust-state');
    field('clear').click();
    await cleared;
    field('as-of').value = asOf;
    field('anchored-at').value = anchoredAt;
    if (evidence !== null) {
      const taken = changed('evidence-source');
      choose('evidence-file', evidence);
      await taken;
    }
    const judged = changed('result');
    choose('receipt-file', receipt);
    await judged;
  }, input);
}
