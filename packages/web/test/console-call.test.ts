import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { svcOf } from '../../server/test/compute.ts';
import { apiKey } from '../../server/test/service.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { keysHeard, launch, type Opened, openAt } from './browser.ts';
import { type CallSite, startCallSite } from './call-site.ts';

let browser: Browser;
let site: CallSite;
beforeAll(async () => {
  browser = await launch();
  site = await startCallSite();
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

interface OpenOptions {
  readonly look?: BrowserContextOptions;
  readonly prepare?: (opened: Opened) => Promise<unknown>;
}

const nothing = async (): Promise<void> => {};

/** Opens a page of the console as the holder of a key, who may have changed what the service answers. */
async function openAs(
  key: string | null,
  path: string,
  { look = lookOf(1440, 'light'), prepare = nothing }: OpenOptions = {},
): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank', look);
  await opened.page.addInitScript(SHIFTS);
  if (key !== null) {
    await opened.page.addInitScript((name) => sessionStorage.setItem('tallystick-session', name), key);
  }
  await prepare(opened);
  await opened.page.goto(site.url + path);
  return opened;
}

/** Adds up how far the page's parts move without being asked to. */
const SHIFTS = `
globalThis.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifted += entry.value;
}).observe({ type: 'layout-shift', buffered: true });`;

const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).innerText();
const verified = (page: Page): Promise<unknown> => page.waitForSelector('.verdict[data-state]');

test('the labels of the timeline’s scale stand beside each other in windows of any width', async () => {
  // A call of a second has the most labels, which are long.
  const prepare = ({ context: own }: Opened) =>
    own.route('**/v1/compute/calls/*', async (route) => {
      const response = await route.fetch();
      const timeline = [{ step: 'route', at_ms: 0, ms: 1_000 }];
      const json = {
        ...(await response.json()),
        total_ms: 1_000,
        first_byte_ms: 0,
        timeline,
        tries: [],
        answered: null,
      };
      await route.fulfill({ response, json });
    });
  const { page, context } = await openAs(site.key, `/activity/${site.routedId}`, { prepare });
  await page.waitForSelector('.scale i');
  for (const width of [320, 390, 640, 768, 832, 1000, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const places = await page
      .locator('.scale i')
      .evaluateAll((labels) =>
        labels.map((label) => label.getBoundingClientRect()).map(({ left, right }) => [left, right]),
      );
    const ends = places.map(([, right = 0]) => right).slice(0, -1);
    const overlaps = ends.filter((end, at) => end > (places[at + 1]?.[0] ?? 0));
    expect({ width, overlaps, labels: places.length }).toEqual({ width, overlaps: [], labels: 6 });
  }
  await context.close();
});

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  const options = { look: lookOf(width, look) };

  test('a call, one that failed, a session and the list of them: nothing for axe, nothing moves, nothing from elsewhere', async () => {
    const opened = await openAs(site.key, `/activity/${site.keptId}`, options);
    const { page, context, complaints, requests } = opened;
    await verified(page);
    await page.waitForSelector('.pair del');
    expect(await page.evaluate('globalThis.shifted')).toBeLessThan(0.05);
    await page.click('text=Make the choice again');
    await page.waitForSelector('.replayed .answer[data-state=pass]');
    await expectAccessible(page, width);
    await page.goto(`${site.url}/activity/${site.failedId}`);
    await page.waitForSelector('#failure');
    await expectAccessible(page, width);
    await page.goto(`${site.url}/sessions/${site.session}`);
    await page.waitForSelector('.steps li');
    expect(await page.evaluate('globalThis.shifted')).toBeLessThan(0.05);
    await expectAccessible(page, width);
    await page.goto(`${site.url}/sessions`);
    await page.waitForSelector('.list tbody tr');
    await expectAccessible(page, width);
    expect(complaints).toEqual([]);
    expect(requests.filter((to) => !to.startsWith(site.url) && to !== 'about:blank')).toEqual([]);
    await context.close();
  });
});

describe('a call', () => {
  test('shows its time, why it went there, its bill as signed, its receipt and its anchor', async () => {
    const { page, context } = await openAs(site.key, `/activity/${site.routedId}`);
    await verified(page);
    const bars = await page.locator('.timeline li .what b').allTextContents();
    expect(bars).toEqual(['Compress', 'Choose a model', 'Reserve the money', 'Try 1', 'Try 2', 'Settle']);
    expect(await textOf(page, '.timeline li[data-state=fail]')).toContain('overloaded (503)');
    const { service } = site.routed;
    const detail = (await service.get(`/v1/compute/calls/${site.routedId}`, auth())).json as unknown as {
      readonly model: string;
      readonly routing: { readonly outcome: { readonly model: string } };
    };
    expect(await textOf(page, '#why')).toContain(detail.routing.outcome.model);
    expect(await textOf(page, '.contenders tr[data-role=chosen]')).toContain('This one was chosen.');
    await page.waitForSelector('.answer >> text=The lines add up to the amount in the signed receipt.');
    expect(await page.locator('.verdict[data-state=pass]').count()).toBe(1);
    expect(await textOf(page, '.verdict')).toContain('this call');
    expect(await page.locator('.verdict li[data-state=fail]').count()).toBe(0);
    const anchor = await textOf(page, '#anchor ~ .terms');
    expect(anchor).toMatch(/Place in the log\s*\d+ of the \d+/);
    expect(anchor).toMatch(/0x[0-9a-f]{6}…[0-9a-f]{6}/);
    await context.close();
  });

  test('makes the choice again in the page, shows where another wish leads, and names a record that was changed', async () => {
    const { page, context, requests } = await openAs(site.key, `/activity/${site.routedId}`);
    await verified(page);
    await page.click('text=Make the choice again');
    await page.waitForSelector('.replayed .answer[data-state=pass]');
    const before = requests.length;
    await page.focus('#wish');
    await page.keyboard.press('Home');
    expect(await textOf(page, 'output')).toContain('It would have gone to');
    expect(requests.slice(before)).toEqual([]);
    await context.route(`**/v1/compute/calls/${site.routedId}`, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      json.routing.outcome.why = 'session';
      await route.fulfill({ response, json });
    });
    await page.reload();
    await page.click('text=Make the choice again');
    await page.waitForSelector('.replayed .answer[data-state=fail] >> text=differs (why)');
    await context.close();
  });

  test('compares the reader’s file with the receipt, and uploads nothing', async () => {
    const { page, context, requests } = await openAs(site.key, `/activity/${site.routedId}`);
    await verified(page);
    const before = requests.length;
    const file = (body: unknown) => ({
      name: 'request.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(body)),
    });
    await page.setInputFiles('.given input[type=file]', file({ ...site.request, model: 'other' }));
    await page.waitForSelector('.answer[data-state=fail] >> text=another request');
    expect(await page.locator('.part figure').count()).toBe(0);
    await page.setInputFiles('.given input[type=file]', file(site.request));
    await page.waitForSelector('.answer[data-state=pass] >> text=covers exactly this request');
    expect(await page.locator('.part figure').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringContaining('Which dock had row 7?')]),
    );
    expect(requests.slice(before).filter((to) => !to.includes('/assets/'))).toEqual([]);
    await page.fill('.given textarea', '{');
    await page.waitForSelector(`.answer[data-state=fail] >> text=can't be read`);
    expect(await page.locator('.part figure').count()).toBe(0);
    await page.setInputFiles('.given input[type=file]', file(site.request));
    await page.waitForSelector('.answer[data-state=pass]');
    await page.evaluate(() => {
      const folder = new File([], 'papers');
      folder.arrayBuffer = async () => {
        throw new DOMException('A requested file or directory could not be found.', 'NotFoundError');
      };
      const drop = Object.assign(new Event('drop', { bubbles: true }), { dataTransfer: { files: [folder] } });
      document.querySelector('.given')?.dispatchEvent(drop);
    });
    await page.waitForSelector('.answer[data-state=fail] >> text=papers can’t be read');
    expect(await page.locator('.part figure').count()).toBe(0);
    await context.close();
  });

  test('shows what the service kept beside what was sent, with what was cut marked', async () => {
    const { page, context } = await openAs(site.key, `/activity/${site.keptId}`);
    await page.waitForSelector('.answer[data-state=pass] >> text=covers exactly this request');
    expect(await page.locator('.pair').count()).toBe(3);
    expect(await page.locator('.pair:nth-of-type(2) del').first().innerText()).toContain('"id":0');
    expect(await page.locator('.pair:nth-of-type(3) :is(del, ins)').count()).toBe(0);
    await page.click('summary:has-text("Answer")');
    expect(await textOf(page, '[aria-label=Answer]')).toBe('Row 7 was at dock 0.');
    await context.close();
  });

  test('has what was kept deleted', async () => {
    const { receipt } = svcOf(await site.routed.chat({ svc: { keep: true } }, auth()));
    await site.routed.service.services.compute.listed();
    const { page, context } = await openAs(site.key, `/activity/${receipt.receipt_id}`);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.click('text=Delete it now');
    await page.waitForSelector('.given');
    const path = `/v1/compute/calls/${receipt.receipt_id}/content`;
    expect((await site.routed.service.get(path, auth())).status).toBe(404);
    await context.close();
  });

  test('a receipt that was changed is shown as such', async () => {
    const prepare = ({ context }: Opened): Promise<unknown> =>
      context.route(`**/v1/receipt/${site.streamedId}`, async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/"amount":"[^"]*"/, '"amount":"0.5"');
        await route.fulfill({ response, body });
      });
    const { page, context } = await openAs(site.key, `/activity/${site.streamedId}`, { prepare });
    await page.waitForSelector('.verdict[data-state=fail] >> text=Not valid');
    const failed = await page.locator('.verdict li[data-state=fail] b').allTextContents();
    expect(failed).toEqual(expect.arrayContaining(['this call']));
    expect(failed.length).toBeGreaterThan(1);
    await page.waitForSelector('.answer[data-state=fail] >> text=The receipt says 0.5 USDC');
    await context.close();
  });

  test('one that failed says what went wrong, what to do, and that nothing was charged', async () => {
    const { page, context } = await openAs(site.key, `/activity/${site.failedId}`);
    await page.waitForSelector('#failure');
    const said = await textOf(page, '.problem');
    expect(said).toContain('The provider refused the request');
    expect(said).toContain('Correct the request');
    expect(said).toContain('Nothing was charged.');
    expect(await page.getAttribute('.problem a', 'href')).toBe('/docs/errors#provider_refused');
    expect(await page.locator('.verdict').count()).toBe(0);
    await context.close();
  });

  test('somebody else’s is not shown, nor any to who is not signed in', async () => {
    const { page, context } = await openAs(site.key, `/activity/${site.othersId}`);
    await page.waitForSelector('text=You have no call with this id');
    expect(await page.locator('.call').count()).toBe(0);
    await page.goto(`${site.url}/activity/call_1_none`);
    await page.waitForSelector('text=You have no call with this id');
    await context.close();
    const stranger = await openAs(null, `/activity/${site.routedId}`, {
      prepare: ({ context: own }) =>
        own.route('**/v1/compute/calls/*', (route) =>
          route.fulfill({
            status: 401,
            json: { code: 'api_key_missing', title: 'Sign in', detail: 'Sign in.' },
          }),
        ),
    });
    await stranger.page.waitForSelector('text=Sign in to see this call');
    await stranger.context.close();
  });
});

describe('a session', () => {
  test('shows calls and tool calls in their order, what the record does not name, and the sums', async () => {
    const { page, context } = await openAs(site.key, `/sessions/${site.session}`);
    await page.waitForSelector('.verdict[data-state=pass]');
    const steps = await page.locator('.steps li').allInnerTexts();
    expect(steps).toHaveLength(6);
    const order = ['opens', 'read_manifest', 'number 2', 'write_report', 'not in the record', 'closes'];
    for (const [at, words] of order.entries()) expect(steps[at]).toContain(words);
    expect(await textOf(page, '.summary')).toMatch(/Calls of models\s*2/);
    expect(await textOf(page, '.verdict')).toContain('Receipts that it refers to: 1 here and valid');
    await page.locator('.steps a').first().click();
    await page.waitForURL(`**/activity/${site.routedId}`);
    await page.click(`.origins a[href="/sessions/${site.session}"]`);
    await page.waitForSelector('.steps');
    await context.close();
  });

  test('is listed once, whether it has calls of models, calls of tools or both, and opened from the list', async () => {
    const { page, context } = await openAs(site.key, '/sessions');
    await page.waitForFunction(() => document.querySelectorAll('.list tbody tr').length === 2);
    const rows = await page.locator('.list tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
    const shown = cells.map(([id, , , ...counts]) => [id, ...counts.slice(0, 4)]);
    expect(shown).toEqual([
      [site.toolSession, '–', '–', '1', '3'],
      [site.session, '2', '–', '2', '5'],
    ]);
    await rows[0]?.locator('a.row').click();
    await page.waitForURL(`**/sessions/${site.toolSession}`);
    await page.waitForSelector('.verdict[data-state=pass]');
    expect(await textOf(page, '.steps')).toContain('list_docks');
    await context.close();
  });

  test('shows nothing of the one before while it is on its way', async () => {
    const { page, context } = await openAs(site.key, `/sessions/${site.session}`);
    await page.waitForSelector('.verdict[data-state=pass]');
    const answers = Promise.withResolvers<void>();
    await page.route(`**/v1/sessions/${site.toolSession}`, async (route) => {
      await answers.promise;
      await route.continue();
    });
    await page.evaluate((id) => {
      const link = document.createElement('a');
      link.href = `/sessions/${id}`;
      document.body.append(link);
      link.click();
    }, site.toolSession);
    await page.waitForSelector(`article.call .id >> text=${site.toolSession}`);
    expect(await page.locator('.verdict, .steps').count()).toBe(0);
    answers.resolve();
    await page.waitForSelector('.verdict[data-state=pass]');
    expect(await textOf(page, '.steps')).toContain('list_docks');
    await context.close();
  });

  test('names the place of a receipt that is missing', async () => {
    const prepare = ({ context }: Opened): Promise<unknown> =>
      context.route(`**/v1/sessions/${site.session}`, async (route) => {
        const response = await route.fetch();
        const lines = (await response.text()).split('\n');
        await route.fulfill({ response, body: lines.filter((_, at) => at !== 1).join('\n') });
      });
    const { page, context } = await openAs(site.key, `/sessions/${site.session}`, { prepare });
    await page.waitForSelector('.verdict[data-state=fail]');
    expect(await page.locator('.steps li').nth(1).innerText()).toContain('gap');
    await context.close();
  });

  test('is shown with its fault where nothing of its record can be read', async () => {
    const prepare = ({ context }: Opened): Promise<unknown> =>
      context.route(`**/v1/sessions/${site.toolSession}`, (route) =>
        route.fulfill({ body: 'cut\n', contentType: 'application/x-ndjson' }),
      );
    const { page, context, complaints } = await openAs(site.key, `/sessions/${site.toolSession}`, {
      prepare,
    });
    await page.waitForSelector('.verdict[data-state=fail]');
    expect(await textOf(page, '.steps')).toContain('Line 1 is not JSON.');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('somebody else sees neither its calls nor its record', async () => {
    const { authorization } = await apiKey(site.routed.service, 'pro');
    const stranger = authorization.slice('Bearer '.length);
    const { page, context } = await openAs(stranger, `/sessions/${site.session}`);
    await page.waitForSelector('text=You have no session with this id');
    expect(await page.locator('.steps, .verdict').count()).toBe(0);
    await page.goto(`${site.url}/sessions`);
    await page.waitForSelector('text=You have no sessions yet');
    await context.close();
  });
});

test('by keyboard alone: from the list to a call, through it, and back', async () => {
  const { page, context } = await openAs(site.key, '/activity');
  await page.waitForSelector('.list tbody tr');
  await keysHeard(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/activity/*');
  // A call that is on its way has a heading too, but nothing yet to go through.
  await page.waitForSelector('article.call h1');
  const reached = new Set<string>();
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab');
    const tag = await page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    reached.add(tag);
  }
  for (const name of ['Calls', 'Make the choice again']) expect([...reached]).toContain(name);
  await page.goBack();
  await page.waitForSelector('.list tbody tr');
  await context.close();
});

const auth = (): Record<string, string> => ({ authorization: `Bearer ${site.key}` });
