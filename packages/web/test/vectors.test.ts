import type { AnchorAuthority, Verification } from '@tallystick/core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnchorCase } from '../../../scripts/vectors/anchor-base.ts';
import {
  anchorCases,
  authorityOf,
  bundleOf,
  bytesOf,
  inCore,
  receiptCases,
  settlementCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
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

/** The page is never told of a transaction: it can't ask a chain. */
const cases: readonly (AnchorCase & { readonly file: string })[] = [
  ...receiptCases,
  ...anchorCases.map(({ transaction: _transaction, ...offline }) => offline),
  ...settlementCases.map(({ settlement: _settlement, ...offline }) => offline),
];
const bundles = Map.groupBy(cases, (vector) => JSON.stringify([vector.trust, authorityOf(vector)]));

describe.each([...bundles.keys()].map((bundle, index) => [index, bundle] as const))(
  'judged by bundle %i',
  (_, bundle) => {
    const [store, authority] = JSON.parse(bundle) as [AnchorCase['trust'], AnchorAuthority];
    const here = bundles.get(bundle) ?? [];

    test(`the page and Node agree on all ${here.length} vectors`, async () => {
      const { page, context, complaints } = await open(browser, builtPage('verify').href);
      await addBundle(page, await bundleOf(stores[store], 1, 'a', authority));
      await page.waitForSelector('text=Remembered in this browser');
      const disagreements: object[] = [];
      for (const vector of here) {
        await fetchBytes(page, vector);
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
  },
);

test('every vector is asked about', () => {
  const names = new Set(cases.map(({ trust }) => trust));
  expect([...names].filter((name) => !(name in stores))).toEqual([]);
});

/** Fills the form as a reader would, with files, and waits for the verdict. */
async function fetchBytes(page: Awaited<ReturnType<typeof open>>['page'], vector: AnchorCase): Promise<void> {
  const asFile = (value: unknown) =>
    value === undefined ? null : Buffer.from(JSON.stringify(value)).toString('base64');
  const input = {
    receipt: bytesOf(vector).toString('base64'),
    beside: { evidence: asFile(vector.evidence), anchor: asFile(vector.anchor) },
    asOf: vector.now,
  };
  await page.evaluate(async ({ receipt, beside, asOf }) => {
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
    for (const [id, contents] of Object.entries(beside)) {
      if (contents === null) continue;
      const taken = changed(`${id}-source`);
      choose(`${id}-file`, contents);
      await taken;
    }
    const judged = changed('result');
    choose('receipt-file', receipt);
    await judged;
  }, input);
}
