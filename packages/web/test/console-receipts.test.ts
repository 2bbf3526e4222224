import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { apiKey, receiptIdOf } from '../../server/test/service.ts';
import { newTenant, type TestTenant } from '../../server/test/tenant.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { launch, type Opened, openAt } from './browser.ts';
import { type ConsoleSite, startConsole } from './console-site.ts';
import { measureShifts, shifted } from './shifts.ts';

let browser: Browser;
let site: ConsoleSite;
let key: string;
let tenant: TestTenant;
/** A receipt that the tenant alone may read. */
let tenantId: string;
const EMITTED = 60;
const hex = (digit: string): string => digit.repeat(64);
const BILL = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2026-02-01T00:00:00Z',
  window_end: '2026-03-01T00:00:00Z',
  service_unit: 'pick',
  billed_unit_count: 2,
  rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: hex('4') },
  evidence: [{ receipt_sha256: hex('a'), unit: 1 }],
};
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  browser = await launch();
  site = await startConsole();
  const headers = await apiKey(site.service, 'scale');
  key = keyIn(headers);
  tenant = await newTenant(site.service);
  for (let n = 0; n < EMITTED; n++) {
    const body = n % 4 === 0 ? { input: `${n}` } : { input: `${n}`, purpose: n % 2 ? 'order' : 'backup' };
    await site.service.post(`/v1/receipt/emit${n % 4 === 0 ? '?profile=nano' : ''}`, body, headers);
  }
  const emit = (input: string) =>
    site.service.post(`/tenants/${tenant.id}/receipts`, { input, purpose: 'of the tenant' }, tenant.headers);
  tenantId = receiptIdOf((await emit('a')).text);
  for (const input of ['b', 'c']) await emit(input);
  const listed = async (headers: Record<string, string>): Promise<number> =>
    ((await site.service.get('/v1/receipts?limit=1000', headers)).json['data'] as unknown[]).length;
  await vi.waitUntil(
    async () => (await listed(headers)) === EMITTED && (await listed(tenant.headers)) === 3,
    60_000,
  );
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

const keyIn = ({ authorization }: { readonly authorization: string }): string =>
  authorization.slice('Bearer '.length);

/** Opens an address, signed in with a key for this session if one is given. */
async function visit(path: string, signedIn?: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank', options);
  closing.push(() => opened.context.close());
  await measureShifts(opened.page);
  if (signedIn !== undefined) {
    await opened.page.addInitScript((key) => sessionStorage.setItem('tallystick-session', key), signedIn);
  }
  await opened.page.goto(site.url + path);
  return opened;
}

function expectQuiet({ requests, complaints }: Opened): void {
  const own = ['about:blank', 'data:', 'blob:', `${site.url}/`];
  expect(requests.filter((address) => !own.some((start) => address.startsWith(start)))).toEqual([]);
  expect(complaints).toEqual([]);
}

/** The browser’s own file system stands in for the dialog, which nobody can press here. */
const INTO_BROWSER = `globalThis.showSaveFilePicker = async ({ suggestedName }) =>
  (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });`;
const chosenFile = (page: Page, name: string): Promise<string> =>
  page.evaluate(async (of) => {
    const handle = await (await navigator.storage.getDirectory()).getFileHandle(of);
    return (await handle.getFile()).text();
  }, name);

const expectShown = (page: Page, selector: string) => page.waitForSelector(selector);
const stateOf = (page: Page) => page.getAttribute('.judgement .verdict', 'data-state');
const judged = (page: Page) => page.waitForSelector('.judgement .verdict');

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  test('the look-up, a receipt, the list and the bundle: nothing for axe, nothing moves, nothing from elsewhere', async () => {
    const options = lookOf(width, look);
    const stranger = await visit('/receipts', undefined, options);
    await expectAccessible(stranger.page, width);
    await stranger.page.goto(`${site.url}/receipts#${site.anchoredId}`);
    await judged(stranger.page);
    await expectAccessible(stranger.page, width);
    expectQuiet(stranger);
    const owner = await visit('/receipts', key, options);
    await expectShown(owner.page, 'a.row');
    await expectShown(owner.page, '.u-wrap');
    await expectAccessible(owner.page, width);
    expect(await shifted(owner.page)).toBeLessThan(0.05);
    expectQuiet(owner);
    const builder = await visit('/evidence/build', keyIn(tenant.headers), options);
    await expectShown(builder.page, '.build');
    await expectAccessible(builder.page, width);
    expectQuiet(builder);
  });
});

test('at 320 px, the list is no wider than the window, and its costs are seen', async () => {
  const { page } = await visit('/receipts', key, lookOf(320, 'light'));
  await expectShown(page, 'a.row');
  await expectAccessible(page, 320);
  const cut = await page
    .locator('.list td:visible')
    .evaluateAll((cells) =>
      cells
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => textContent),
    );
  expect(cut).toEqual([]);
});

describe('a receipt by its id', () => {
  test('is verified with its anchor, can be saved, and links to its leaf', async () => {
    const opened = await visit('/receipts');
    const { page } = opened;
    await page.fill('#id', ` ${site.anchoredId} `);
    await page.keyboard.press('Enter');
    await judged(page);
    expect(page.url()).toBe(`${site.url}/receipts#${site.anchoredId}`);
    expect(await stateOf(page)).toBe('pass');
    expect(await page.innerText('.receipt .standing')).toMatch(
      /^Anchored\. It is leaf 0 of the log, .* on devnet in block \d+\./,
    );
    const passed = await page.locator('.judgement .every li[data-state=pass] .name').allInnerTexts();
    expect(passed).toEqual(expect.arrayContaining(['signature', 'anchor', 'anchor_checkpoint']));
    for (const [button, name] of [
      ['Download the receipt', `${site.anchoredId}.json`],
      ['Download its anchor', `${site.anchoredId}.anchor.json`],
    ] as const) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(`text=${button}`)]);
      expect(download.suggestedFilename()).toBe(name);
    }
    expectQuiet(opened);
    await page.click('text=Its leaf in the log');
    await expectShown(page, 'dialog .verdict[data-state=pass]');
  });

  test('opens from a shared link, follows the history, says what is not anchored, and folds what is null', async () => {
    const { page } = await visit(`/receipts#${site.plainId}`);
    await expectShown(page, 'text=Not anchored.');
    await expectShown(page, '.fields >> text=members are null');
    await page.fill('#id', site.anchoredId);
    await page.keyboard.press('Enter');
    await expectShown(page, '.standing >> text=Anchored.');
    await page.goBack();
    await expectShown(page, 'text=Not anchored.');
    expect(await page.inputValue('#id')).toBe(site.plainId);
  });

  test.each([
    ['a bill', '/v1/receipt/metering', BILL],
    ['a receipt with two signatures', '/v1/receipt/emit?profile=pq', { input: 'pq' }],
  ])('that is %s is verified as any other', async (_, path, body) => {
    const { text } = await site.service.post(path, body, await apiKey(site.service, 'scale'));
    const opened = await visit(`/receipts#${receiptIdOf(text)}`);
    await judged(opened.page);
    expect(await stateOf(opened.page)).toBe('pass');
    expectQuiet(opened);
  });

  /** A receipt, the one that corrects it, and the one that says so. */
  const corrected = async (reason = 'Two pallets were counted twice.') => {
    // Another key than that of the list, whose receipts are counted.
    const headers = await apiKey(site.service, 'pro');
    const mint = async (input: string) =>
      receiptIdOf(
        (await site.service.post('/v1/receipt/free', { input, purpose: 'p', anchor: true }, headers)).text,
      );
    const [first, second] = [await mint('42 pallets'), await mint('40 pallets')];
    const call = { corrects: first, correction: second, reason };
    const reply = await site.service.post('/v1/receipt/corrections', call, headers);
    expect(reply.status, reply.text).toBe(200);
    return { first, second, link: receiptIdOf(reply.text) };
  };

  test('that was corrected says so and by which, and the correction what it corrects', async () => {
    const { first, second, link } = await corrected();
    const opened = await visit(`/receipts#${first}`);
    const { page } = opened;
    await expectShown(page, '.standing[data-state=pass]:has-text("Corrected.")');
    const said = await page.innerText('.standing:has-text("Corrected.")');
    expect(said).toContain(`${second} supersedes this receipt, which proves what it proved.`);
    expect(said).toContain('Reason: Two pallets were counted twice.');
    expect(said).toContain(`(${link})`);
    expect(await page.innerText('.judgement h2')).toMatch(/^Valid/);
    await page.click(`.standing a:text-is("${second}")`);
    await expectShown(page, '.standing[data-state=pass]:has-text("A correction.")');
    expect(await page.innerText('.standing:has-text("A correction.")')).toContain(`supersedes ${first}.`);
    expectQuiet(opened);
  });

  test('whose correction has a reason that would turn around what follows shows its characters by number', async () => {
    const { first } = await corrected('None.\u202e\u200b<b>');
    const { page } = await visit(`/receipts#${first}`);
    await expectShown(page, '.standing:has-text("Corrected.")');
    expect(await page.innerText('.standing:has-text("Corrected.")')).toContain(
      'Reason: None.U+202EU+200B<b> (r_env_',
    );
    expect(await page.locator('.standing .mark').allTextContents()).toEqual(['U+202E', 'U+200B']);
  });

  test('whose correction is changed on its way is only said to be corrected', async () => {
    const { first, link } = await corrected();
    const { page } = await visit('/healthz');
    await page.route(`**/v1/receipt/${link}`, async (route) => {
      const text = await (await route.fetch()).text();
      const body = text.replace('Two pallets', 'Ten pallets');
      expect(body).not.toBe(text);
      await route.fulfill({ body, contentType: 'application/json' });
    });
    await page.goto(`${site.url}/receipts#${first}`);
    // Its anchor may be unsure too: the root that covers it is on its way to the chain.
    const said = '.standing[data-state=unsure]:has-text("Said to be corrected.")';
    await expectShown(page, said);
    expect(await page.innerText(said)).toContain('This does not hold: ');
    expect(await page.innerText('.judgement h2')).toMatch(/^Valid/);
  });

  test('that is changed on its way, or of another key, is not valid', async () => {
    const { text } = await site.service.get(`/v1/receipt/${site.plainId}`);
    const { page } = await visit('/healthz');
    await page.route('**/v1/receipt/*', (route) =>
      route.fulfill({
        body: text.replace('"purpose":"p"', '"purpose":"q"'),
        contentType: 'application/json',
      }),
    );
    await page.goto(`${site.url}/receipts#${site.plainId}`);
    await expectShown(page, '.judgement .verdict[data-state=fail]');
    expect(await page.innerText('.judgement h2')).toBe('Not valid: changed or forged');
  });

  test('whose anchor is changed is not valid', async () => {
    const { page } = await visit('/healthz');
    await page.route('**/v1/anchor/by-hash/*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), merkle_root: `sha256:${'0'.repeat(64)}` } });
    });
    await page.goto(`${site.url}/receipts#${site.anchoredId}`);
    await expectShown(page, '.judgement .verdict[data-state=fail]');
  });

  test('by a root that this browser remembers, not by the one that the service shows now', async () => {
    const { page } = await visit('/healthz');
    const pin = { root: `sha256:${'0'.repeat(64)}`, version: 1, bundle_sha256: '0'.repeat(64) };
    await page.evaluate(
      (text) => localStorage.setItem('tallystick-trust', text),
      JSON.stringify({ pin, bundle: {} }),
    );
    await page.goto(`${site.url}/receipts#${site.plainId}`);
    await expectShown(page, '.judgement .verdict[data-state=unsure]');
  });

  test('that waits for its posting says until when', async () => {
    const { page } = await visit('/healthz');
    const answer = {
      anchor_ref: 'urn:anchor:pending:2027-03-01T13:00Z:rs',
      batch_id: '2027-03-01T13:00Z',
      eta_seconds: 1_500,
    };
    await page.route('**/v1/anchor/by-hash/*', (route) => route.fulfill({ json: answer }));
    await page.goto(`${site.url}/receipts#${site.plainId}`);
    await expectShown(page, 'text=posted at 2027-03-01T13:00Z, in about 25 min.');
  });

  test('is not found, or the id is none', async () => {
    const other = `${site.plainId.slice(0, -1)}${site.plainId.endsWith('0') ? 1 : 0}`;
    const { page } = await visit(`/receipts#${other}`);
    await expectShown(page, '.empty >> text=Not found');
    for (const id of ['<b>x</b>', '%', '../log', 'a&b+c']) {
      await page.fill('#id', id);
      await page.keyboard.press('Enter');
      await expectShown(page, '.empty >> text=That is not a receipt id');
      expect(await page.inputValue('#id')).toBe(id);
    }
  });
});

describe('the list', () => {
  test('shows what the key made, plotted, filtered in the address, page by page', async () => {
    const { page } = await visit('/receipts?range=1h', key);
    await expectShown(page, 'a.row');
    expect(await page.locator('a.row').count()).toBe(50);
    await expectShown(page, `.total b:text-is("${EMITTED}")`);
    await page.click('text=Show older receipts');
    await page.waitForFunction((count) => document.querySelectorAll('a.row').length === count, EMITTED);
    await page.keyboard.press('/');
    await page.keyboard.type('profile:nano');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/receipts?range=1h&profile=nano');
    await page.waitForFunction((count) => document.querySelectorAll('a.row').length === count, EMITTED / 4);
    await expectShown(page, `.total b:text-is("${EMITTED / 4}")`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await judged(page);
    expect(await stateOf(page)).toBe('pass');
    await page.goBack();
    await expectShown(page, '.chip');
    await page.evaluate('delete globalThis.showSaveFilePicker');
    await page.click('text=Export');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=NDJSON')]);
    expect(download.suggestedFilename()).toBe('receipts.ndjson');
  });

  const exporting = async (): Promise<Page> => {
    const { page } = await visit('/healthz', key);
    await page.addInitScript(INTO_BROWSER);
    // Whoever holds the whole file in memory takes it as one of these.
    await page.addInitScript(`for (const whole of ['blob', 'text', 'arrayBuffer'])
      Response.prototype[whole] = new Proxy(Response.prototype[whole], {
        apply: (of, response, given) => {
          if (response.url.includes('format=')) throw new Error('The whole file is read at once.');
          return Reflect.apply(of, response, given);
        },
      });`);
    await page.goto(`${site.url}/receipts`);
    await expectShown(page, 'a.row');
    await page.click('text=Export');
    return page;
  };

  test('exports them as they come into the file that the reader chose', async () => {
    const page = await exporting();
    await page.click('text=NDJSON');
    await page.waitForSelector('dialog', { state: 'detached' });
    const { text } = await site.service.get('/v1/receipts?format=ndjson', { authorization: `Bearer ${key}` });
    expect(text.split('\n')).toHaveLength(EMITTED + 1);
    expect(await chosenFile(page, 'receipts.ndjson')).toBe(text);
  });

  test('says how far an export is, and stops it without leaving half a file', async () => {
    const page = await exporting();
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/v1/receipts?*format=csv*', async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await page.click('text=CSV');
    await expectShown(page, 'dialog [role=status] >> text=Waiting for the first rows.');
    await expectAccessible(page, 1280);
    await page.click('text=Stop');
    await page.waitForSelector('dialog progress', { state: 'detached' });
    expect(await page.locator('dialog .problem').count()).toBe(0);
    expect(await chosenFile(page, 'receipts.csv')).toBe('');
    answer();
    await page.unroute('**/v1/receipts?*format=csv*');
    await page.click('text=CSV');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await chosenFile(page, 'receipts.csv')).toMatch(/^receipt_id,at,/);
  });

  test('verifies a receipt in its place', async () => {
    const { page } = await visit('/receipts', key);
    await page.locator('button', { hasText: 'Verify' }).first().click();
    await expectShown(page, 'dialog .verdict[data-state=pass]');
  });

  test('of a tenant shows the tenant’s, which nobody else can read', async () => {
    const { page } = await visit('/receipts', keyIn(tenant.headers));
    await expectShown(page, 'a.row');
    expect(await page.locator('a.row').count()).toBe(3);
    await page.goto(`${site.url}/receipts#${tenantId}`);
    await judged(page);
    expect(await stateOf(page)).toBe('pass');
    const stranger = await visit(`/receipts#${tenantId}`, key);
    await expectShown(stranger.page, '.empty >> text=Not found');
  });
});

describe('an evidence bundle', () => {
  const build = async (prepare: (page: Page) => Promise<unknown>): Promise<Page> => {
    const { page } = await visit('/healthz', keyIn(tenant.headers));
    await prepare(page);
    await page.goto(`${site.url}/evidence/build`);
    await expectShown(page, '.build');
    await page.fill('[name=tenant]', tenant.id);
    await page.fill('[name=from]', '2020-01-01');
    return page;
  };
  const withoutPicker = (page: Page) => page.addInitScript('delete globalThis.showSaveFilePicker');

  test('is streamed to the downloads, and opens in the verifier', async () => {
    const page = await build(withoutPicker);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Build and save')]);
    expect(download.suggestedFilename()).toBe(`evidence-${tenant.id}.zip`);
    expect(new URL(page.url()).searchParams.get('from')).toBe('2020-01-01');
    const [verifier] = await Promise.all([
      page.context().waitForEvent('page'),
      page.click('text=Open it in the verifier'),
    ]);
    await expectShown(verifier, '#result .verdict');
    expect(await verifier.getAttribute('#result .verdict', 'data-state')).toBe('unsure');
    expect(await verifier.innerText('#result')).toContain(tenant.id);
    // A sign-out in this tab would not reach what another one holds.
    const stored = () => sessionStorage.getItem('tallystick-session');
    expect([await verifier.evaluate(stored), await page.evaluate(stored)]).toEqual([
      null,
      keyIn(tenant.headers),
    ]);
    await expectShown(page, '.exports a.row');
    await page.click('.exports a.row');
    await judged(page);
    expect(await stateOf(page)).toBe('pass');
  });

  test('is streamed to the file that the reader chose', async () => {
    const page = await build((page) => page.addInitScript(INTO_BROWSER));
    await page.click('text=Build and save');
    await expectShown(page, 'text=Open it in the verifier');
    expect((await chosenFile(page, `evidence-${tenant.id}.zip`)).slice(0, 2)).toBe('PK');
  });

  test('says what is missing or refused, in its place', async () => {
    const page = await build(withoutPicker);
    await page.fill('[name=to]', '2019-01-01');
    await page.click('text=Build and save');
    await expectShown(page, '.wrong >> text=The period must end after it begins.');
    await page.fill('[name=to]', '');
    await page.fill('[name=tenant]', 't_0000000000000000');
    await page.click('text=Build and save');
    await expectShown(page, '.problem >> text=tenant_not_found');
    const other = await visit('/evidence/build', key);
    await expectShown(other.page, 'text=Only a tenant has evidence');
  });
});
