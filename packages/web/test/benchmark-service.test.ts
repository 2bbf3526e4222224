import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService, testClock } from '../../server/test/service.ts';
import type { NodeDocument } from '../src/benchmark/documents.ts';
import { expectAccessible } from './axe.ts';
import { launch, openAt } from './browser.ts';
import { readPlots } from './plots.ts';

let browser: Browser;
let service: TestService;
let url: string;
beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: testClock(Date.now()) });
  url = await service.listen();
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

test.each([320, 1440])(
  'at %i px the service’s own benchmark is signed, trusted and drawn, number by number',
  async (width) => {
    const { page, context, requests, complaints } = await openAt(browser, `${url}/benchmark`, {
      viewport: { width, height: 900 },
    });
    await page.waitForSelector('.verdict[data-state=pass]');
    await page.waitForSelector('#lossless .drawing');
    const plots = await page.evaluate(readPlots);
    const nodes = ['semantic', 'temporal', 'modality'] as const;
    for (const [index, node] of nodes.entries()) {
      const { tiers } = (await service.get(`/v1/compute/benchmark/${node}`)).json as unknown as NodeDocument;
      const marks = plots.filter(({ marks }) => marks.some(({ x }) => x !== null))[index]?.marks ?? [];
      expect(marks).toHaveLength(tiers.length);
      for (const { tier, budget, kept } of tiers) {
        const mark = marks.find(({ of, x }) => of === tier && x === budget);
        expect(Math.abs((mark?.value ?? Number.NaN) - kept), `${node} ${tier} ${budget}`).toBeLessThan(0.005);
      }
    }
    await expectAccessible(page, width);
    expect(
      requests.filter((address) => !['data:', `${url}/`].some((own) => address.startsWith(own))),
    ).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  },
);
