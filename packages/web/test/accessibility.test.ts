import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SessionCase } from '../../../scripts/vectors/sessions.ts';
import { anchorCases, authorityOf, bundleOf, readVectors, stores } from '../../core/test/receipt-vectors.ts';
import { builtPage } from '../scripts/page.ts';
import { expectAccessible, LOOKS, lookOf } from './axe.ts';
import { addBundle, launch, open, openAt, verifyText } from './browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

const documentOf = (file: string): string => JSON.stringify(readVectors(file)[0]?.document);

/** Everything that the page can look like. */
const states: Record<string, (page: Page) => Promise<void>> = {
  'at the start': async () => {},
  'all panels open': (page) =>
    page.evaluate(() => {
      for (const panel of document.querySelectorAll('details')) panel.open = true;
    }),
  'the five checks': async (page) => {
    await page.click('#run-five');
    await page.waitForSelector('#five-summary:not([hidden])');
  },
  'valid and trusted': async (page) => {
    await addBundle(page, await bundleOf(stores.known));
    await page.waitForSelector('text=Version 1');
    await verifyText(page, documentOf('envelope.json'));
  },
  'intact, not trusted': (page) => verifyText(page, documentOf('metering.json')),
  'not valid': (page) =>
    verifyText(page, documentOf('pq.json').replace('"auditor_verifier":false', '"auditor_verifier":true')),
  'an anchor that holds': (page) => showAnchor(page, 'offline'),
  'an anchor that does not': (page) => showAnchor(page, 'one bit of the path'),
  'not readable': (page) => verifyText(page, '{'),
  'sessions, one of them with faults': async (page) => {
    const named = (name: string) =>
      readVectors<SessionCase>('sessions.json').find((one) => one.name === name);
    for (const name of ['reference-not-given', 'torn']) {
      const buffer = Buffer.from(named(name)?.file ?? '');
      await page.setInputFiles('#session-file', { name: `${name}.jsonl`, mimeType: '', buffer });
    }
    await page.waitForSelector('#result .session + .session .timeline');
    await page.locator('.hashes summary').first().click();
  },
  'a bundle refused': async (page) => {
    await addBundle(page, '{}');
    await page.waitForSelector('#trust-error p');
  },
};

async function showAnchor(page: Page, wanted: string): Promise<void> {
  const vector = anchorCases.find(({ name }) => name === wanted);
  if (vector === undefined) throw new Error(`There is no case ${wanted}.`);
  await addBundle(page, await bundleOf(stores.known, 1, 'a', authorityOf(vector)));
  await page.waitForSelector('text=Version 1');
  await page.evaluate(() => document.getElementById('anchor-panel')?.setAttribute('open', ''));
  await page.fill('#anchor', JSON.stringify(vector.anchor));
  await verifyText(page, JSON.stringify(vector.document));
}

describe.each(LOOKS)('at %i px, %s', (width, colorScheme) => {
  test.each(Object.keys(states))('%s: nothing for axe, no overflow, no complaint', async (name) => {
    const url = builtPage('verify').href;
    const { page, context, complaints } = await open(browser, url, lookOf(width, colorScheme));
    await states[name]?.(page);
    await expectAccessible(page, width);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

test.each(['verify', 'evidence', 'landing', 'errors', 'benchmark'] as const)(
  'on the page %s the link that skips the header is seen while it has the focus',
  async (name) => {
    for (const [width, look] of LOOKS) {
      const { page, context } = await openAt(browser, builtPage(name).href, lookOf(width, look));
      await page.keyboard.press('Tab');
      const seen = await page.evaluate(() => {
        const link = document.activeElement;
        const { left, top, width, height } = link?.getBoundingClientRect() ?? new DOMRect();
        return (
          link?.className === 'skip' && document.elementFromPoint(left + width / 2, top + height / 2) === link
        );
      });
      expect(seen, `${width} px, ${look}`).toBe(true);
      await context.close();
    }
  },
);

test('a receipt is verified with the keyboard alone, and the verdict is announced', async () => {
  const { page, context } = await open(browser, builtPage('verify').href);
  const focused = () =>
    page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
  const order: unknown[] = [];
  for (let stop = 0; stop < 6; stop++) {
    await page.keyboard.press('Tab');
    order.push(await focused());
  }
  expect(order).toEqual(['Skip to the content', 'theme', 'receipt', 'verify', 'receipt-file', 'clear']);
  await page.focus('#receipt');
  await page.keyboard.insertText(documentOf('envelope.json'));
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('#result h2');
  expect(await focused()).toBe('Intact, but not trusted');
  expect(await page.getAttribute('#announcement', 'role')).toBe('status');
  expect(await page.textContent('#announcement')).toMatch(
    /^Intact, but not trusted\. No trust bundle that you use says whose key this is\. 5 passed, 5 not checked\.$/,
  );
  await page.keyboard.press('Tab');
  expect(
    await page.evaluate(() => document.querySelector('.findings')?.contains(document.activeElement)),
  ).toBe(true);
  await context.close();
});

/** What the live regions of the page say, as assistive technology is told, by how urgently they say it. */
async function spoken(page: Page): Promise<Record<string, string>> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const textOf = (id: string): string => {
    const node = nodes.find(({ nodeId }) => nodeId === id);
    if (node?.role?.value === 'StaticText') return String(node.name?.value);
    return (node?.childIds ?? []).map(textOf).join('');
  };
  const said: Record<string, string> = { assertive: '', polite: '' };
  for (const { nodeId, role, properties = [] } of nodes) {
    const live = properties.find(({ name }) => name === 'live')?.value.value;
    if (role?.value === 'alert' || role?.value === 'status') said[live] += textOf(nodeId);
  }
  return said;
}

test('what fails is an alert, and what holds is said when there is time for it', async () => {
  const { page, context } = await open(browser, builtPage('verify').href);
  expect(await spoken(page)).toEqual({ assertive: '', polite: '' });
  await states['not valid']?.(page);
  expect(await spoken(page)).toEqual({
    assertive: expect.stringMatching(/^Not valid: changed or forged\. /),
    polite: '',
  });
  await states['intact, not trusted']?.(page);
  expect(await spoken(page)).toEqual({ assertive: '', polite: expect.stringMatching(/^Intact, but not /) });
  await page.fill('#receipt', 'something else');
  expect(await spoken(page)).toEqual({ assertive: '', polite: '' });
  await states['a bundle refused']?.(page);
  expect(await spoken(page)).toEqual({ assertive: expect.stringContaining('trust_invalid'), polite: '' });
  await states['not readable']?.(page);
  expect((await spoken(page))['assertive']).toContain('The receipt can’t be read');
  await context.close();
});

test('nothing moves for who asked for less motion', async () => {
  const { page, context } = await open(browser, builtPage('verify').href, { reducedMotion: 'reduce' });
  await verifyText(page, documentOf('metering.json'));
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  await context.close();
});
