import { toBase64url, toHex } from '@tallystick/core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, testClock } from '../../server/test/service.ts';
import type { LogStatus } from '../src/log/documents.ts';
import { launch, type Opened, openAt } from './browser.ts';
import { type ConsoleSite, startConsole } from './console-site.ts';
import { cutOff } from './plots.ts';

let browser: Browser;
let site: ConsoleSite;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  browser = await launch();
  site = await startConsole();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

async function visit(path: string, options: BrowserContextOptions = {}, url = site.url): Promise<Opened> {
  const opened = await openAt(browser, `${url}${path}`, { reducedMotion: 'reduce', ...options });
  closing.push(() => opened.context.close());
  return opened;
}

/** A service that nobody has used yet, and that has no chain. */
async function untouched(env: Record<string, string> = {}): Promise<string> {
  const service = await startTestService({ clock: testClock(Date.now()), env });
  closing.push(() => service.close());
  return service.listen();
}

/** Asserts that the page asked nobody but its own service, and that nothing went wrong in it. */
function expectQuiet({ requests, complaints }: Opened, url = site.url): void {
  const strangers = requests.filter(
    (address) => !['data:', 'blob:', `${url}/`].some((own) => address.startsWith(own)),
  );
  expect(strangers).toEqual([]);
  expect(complaints).toEqual([]);
}

const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText();
const stateOf = (page: Page, selector: string) => page.getAttribute(`${selector} .verdict`, 'data-state');

describe('the landing page', () => {
  async function mint(page: Page): Promise<void> {
    await page.click('#mint-button');
    await page.waitForSelector('#verdict .verdict');
  }

  test('mints a receipt and finds it valid', async () => {
    const opened = await visit('/');
    const { page } = opened;
    await page.fill('#about', 'seven knots');
    await page.fill('#purpose', 'a “test” <b>');
    await mint(page);
    expect(await stateOf(page, '#verdict')).toBe('pass');
    expect(await textOf(page, '#verdict h3')).toBe('Valid, from a trusted issuer');
    expect(await textOf(page, '#verdict .fine')).toMatch(/^\d+ checks passed, 0 failed/);
    const receipt = JSON.parse(await page.inputValue('#receipt'));
    expect(receipt.request.purpose).toBe('a “test” <b>');
    expect(await page.getAttribute('#halves', 'data-state')).toBe('pass');
    expect(await page.getAttribute('#take a >> nth=1', 'href')).toBe(`/receipts#${receipt.receipt_id}`);
    expect((await site.service.get(`/v1/receipt/${receipt.receipt_id}`)).status).toBe(200);
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

describe('the receipts page', () => {
  test('finds an anchored receipt by its id, verifies it with its anchor, and has a link to it', async () => {
    const opened = await visit('/receipts');
    const { page } = opened;
    expect(await textOf(page, '#empty h2')).toBe('Nothing looked up yet');
    await page.fill('#id', ` ${site.anchoredId} `);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#result h2');
    expect(page.url()).toBe(`${site.url}/receipts#${site.anchoredId}`);
    expect(await stateOf(page, '#result')).toBe('pass');
    expect(await textOf(page, '#anchored')).toMatch(
      /^Anchored\. It is leaf 0 of the log, .* on devnet in block \d+\.$/,
    );
    const passed = await page.locator('#result .every li[data-state=pass] .name').allInnerTexts();
    expect(passed).toEqual(expect.arrayContaining(['signature', 'anchor', 'anchor_checkpoint']));
    expect(await page.isVisible('#empty')).toBe(false);
    expect(await page.locator('#take a').allInnerTexts()).toEqual([
      'Download the receipt',
      'Download its anchor',
    ]);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#take a')]);
    expect(download.suggestedFilename()).toBe(`${site.anchoredId}.json`);
    expectQuiet(opened);
  });

  test('opens what a shared link names, follows the history, and says what is not anchored', async () => {
    const { page } = await visit(`/receipts#${site.plainId}`);
    await page.waitForSelector('#result h2');
    expect(await textOf(page, '#anchored')).toMatch(/^Not anchored\. /);
    await page.fill('#id', site.anchoredId);
    await page.click('#lookup button');
    await page.waitForFunction(() =>
      document.querySelector('#anchored')?.textContent?.startsWith('Anchored'),
    );
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('#anchored')?.textContent?.startsWith('Not'));
    expect(await textOf(page, '#found-id')).toBe(site.plainId);
  });

  test('says that there is no such receipt, and what an id looks like', async () => {
    const { page } = await visit(
      `/receipts#${site.plainId.slice(0, -1)}${site.plainId.endsWith('0') ? 1 : 0}`,
    );
    await page.waitForSelector('#failure h2');
    expect(await textOf(page, '#failure')).toBe('Not found\n\nThis service has no receipt with that id.');
    expect(await page.isVisible('#found')).toBe(false);
    for (const id of ['<b>x</b>', '%', '../log']) {
      await page.fill('#id', id);
      await page.click('#lookup button');
      await page.waitForFunction(() =>
        document.querySelector('#failure h2')?.textContent?.startsWith('That'),
      );
      expect(await page.inputValue('#id')).toBe(id);
    }
  });

  test('a receipt that waits for its posting says until when', async () => {
    const service = await startTestService({ clock: testClock(Date.now()) });
    closing.push(() => service.close());
    const url = await service.listen();
    const { page } = await visit('/receipts', {}, url);
    await page.route('**/v1/receipt/*', async (route) => {
      const { text } = await site.service.get(`/v1/receipt/${site.plainId}`);
      await route.fulfill({ body: text, contentType: 'application/json' });
    });
    await page.route('**/v1/anchor/by-hash/*', (route) =>
      route.fulfill({
        json: {
          anchor_ref: 'urn:anchor:pending:2027-03-01T13:00Z:rs',
          batch_id: '2027-03-01T13:00Z',
          eta_seconds: 1500,
        },
      }),
    );
    await page.fill('#id', site.plainId);
    await page.click('#lookup button');
    await page.waitForSelector('#result h2');
    expect(await textOf(page, '#anchored')).toContain('posted at 2027-03-01T13:00Z, in about 25 min.');
    // Another service's keys: nothing that this page trusts.
    expect(await stateOf(page, '#result')).not.toBe('pass');
  });
});

describe('the log page', () => {
  const ready = (page: Page) => page.waitForSelector('#main[aria-busy="false"]');

  test('shows how far the log has come, its signed checkpoint, and what went to the chain', async () => {
    const opened = await visit('/log');
    const { page } = opened;
    await ready(page);
    const log = (await site.service.get('/v1/log')).json as unknown as LogStatus;
    const numbers = await page.locator('#numbers .figure-number').allInnerTexts();
    expect(numbers.slice(0, 3)).toEqual([`${log.accepted}`, `${log.tree_size}`, `${log.anchored_size}`]);
    expect(await stateOf(page, '#checkpoint')).toBe('pass');
    const note = await site.service.get('/checkpoint');
    for (const line of note.text.trim().split('\n')) {
      expect(await textOf(page, '#checkpoint .fields')).toContain(line);
    }
    const { postings } = (await site.service.get('/v1/log/postings')).json as unknown as {
      postings: { tx_hash: string; block_height: number }[];
    };
    const rows = await page.locator('#postings tbody tr').allInnerTexts();
    expect(rows).toHaveLength(postings.length);
    expect(rows[0]).toContain(`${postings[0]?.tx_hash.slice(0, 6)}…${postings[0]?.tx_hash.slice(-4)}`);
    expect(await textOf(page, '#monitor')).toContain(log.verifier_key);
    expectQuiet(opened);
  });

  test('finds a hash, however it is written, and checks its path and root', async () => {
    const { page } = await visit('/log');
    await ready(page);
    const hex = toHex(site.anchoredHash);
    for (const written of [toBase64url(site.anchoredHash), hex, `sha256:${hex}`, hex.toUpperCase()]) {
      await page.fill('#hash', written);
      await page.click('#lookup button');
      await page.waitForSelector('#inclusion .verdict[data-state=pass]');
      expect(await page.locator('#inclusion li[data-state=pass]').count()).toBe(2);
      await page.fill('#hash', 'x');
      await page.click('#lookup button');
      await page.waitForSelector('#inclusion .refusal');
    }
    await page.fill('#hash', '00'.repeat(32));
    await page.click('#lookup button');
    await page.waitForSelector('#inclusion .verdict');
    expect(await textOf(page, '#inclusion h3')).toBe('Not in this log');
  });

  test.each([
    ['another root', 'merkle_root', `sha256:${'0'.repeat(64)}`],
    ['a path that leads elsewhere', 'merkle_path', [`sha256:${'0'.repeat(64)}`]],
    ['another size', 'tree_size', 4_000_000],
    ['a checkpoint that the log did not sign', 'checkpoint', 'x\n1\nAAAA\n\n— x AAAA\n'],
    ['another leaf', 'leaf_index', 77],
  ])('an answer with %s is not believed', async (_, member, value) => {
    const { page } = await visit('/log');
    await ready(page);
    await page.route('**/v1/anchor/by-hash/*', async (route) => {
      const { json } = await site.service.get(`/v1/anchor/by-hash/${toBase64url(site.anchoredHash)}`);
      await route.fulfill({ json: { ...json, [member]: value } });
    });
    await page.fill('#hash', toHex(site.anchoredHash));
    await page.click('#lookup button');
    await page.waitForSelector('#inclusion .verdict');
    expect(await stateOf(page, '#inclusion')).toBe('fail');
  });

  test('a checkpoint of another log is not the log’s', async () => {
    const url = await untouched();
    const { page } = await visit('/healthz');
    await page.route('**/checkpoint', async (route) => {
      const { text } = await site.service.get('/checkpoint');
      await route.fulfill({ body: text });
    });
    await page.goto(`${url}/log`);
    await ready(page);
    expect(await stateOf(page, '#checkpoint')).toBe('fail');
  });

  test('without a chain, and with nothing in it, it says so', async () => {
    const url = await untouched();
    const { page } = await visit('/log', {}, url);
    await ready(page);
    expect(await textOf(page, '#postings h3')).toBe('Nothing posted yet');
    expect(await textOf(page, '#postings p')).toContain('no chain configured');
  });

  test('without the service it says so in each place', async () => {
    const { page } = await visit('/healthz');
    await page.route('**/{v1/**,checkpoint}', (route) => route.abort());
    await page.goto(`${site.url}/log`);
    await ready(page);
    expect(await page.locator('.refusal').count()).toBe(3);
  });
});

describe('the usage page', () => {
  const show = async (page: Page, key: string, did = ''): Promise<void> => {
    await page.fill('#key', key);
    await page.fill('#did', did);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#own :is(h2, .refusal)');
  };

  test('draws what a key used; the key goes into the header and nowhere else', async () => {
    const opened = await visit('/usage');
    const { page, requests } = opened;
    const sent: (string | undefined)[] = [];
    page.on('request', (request) => sent.push(request.headers()['authorization']));
    await show(page, site.key);
    await page.waitForSelector('#own .drawing');
    const numbers = await page.locator('#own .figure-number').allInnerTexts();
    expect(numbers[0]).toBe('3');
    expect(Number(numbers[2]?.replaceAll(',', ''))).toBeGreaterThan(1000);
    const figures = page.locator('#own .figure');
    expect(await figures.count()).toBe(3);
    const column = await figures.first().locator('.column').first().getAttribute('data-value');
    const cell = await figures.first().locator('tbody td').nth(2).innerText();
    expect(cell.replaceAll(',', '')).toBe(column);
    expect(await figures.nth(2).locator('tbody th').allInnerTexts()).toEqual(['local/extract-1']);
    expect(sent.filter((header) => header === `Bearer ${site.key}`)).toHaveLength(2);
    expect(requests.filter((address) => address.includes(site.key))).toEqual([]);
    const kept = await page.evaluate(() => [
      location.href,
      JSON.stringify(localStorage),
      JSON.stringify(sessionStorage),
      document.cookie,
      JSON.stringify(history.state),
    ]);
    expect(kept.join()).not.toContain(site.key);
    await page.reload();
    expect(await page.inputValue('#key')).toBe('');
    expectQuiet(opened);
  });

  test('at 320 px no letter of many days is cut off', async () => {
    const { page, context } = await visit('/usage', { viewport: { width: 320, height: 800 } });
    await context.route('**/v1/compute/usage/*', async (route) => {
      const usage = (await (await route.fetch()).json()) as { days: { day: string }[] };
      const [last] = usage.days;
      const dayBefore = (days: number): string =>
        new Date(Date.parse(last?.day ?? '') - days * 86_400_000).toISOString().slice(0, 10);
      const days = Array.from({ length: 9 }, (_, at) => ({ ...last, day: dayBefore(8 - at) }));
      await route.fulfill({ json: { ...usage, days } });
    });
    await show(page, site.key);
    await page.waitForSelector('#own .column-of');
    expect(await page.locator('#own .column-of').count()).toBe(18);
    expect(await page.locator('#own .drawing text').evaluateAll(cutOff)).toEqual([]);
  });

  test('a form that is sent without its script has no key in its address', async () => {
    const { page } = await visit('/usage', { javaScriptEnabled: false });
    expect(await page.locator('#ask [name]').count()).toBe(0);
  });

  test('shows what all callers saved, without a key', async () => {
    const { page } = await visit('/usage');
    await page.waitForSelector('#service .drawing');
    expect(await page.locator('#service tbody tr').count()).toBeGreaterThan(0);
  });

  test('says what is missing: nothing given, an unknown key, no calls', async () => {
    const { page } = await visit('/usage');
    await page.click('#ask button');
    await page.waitForSelector('#own .refusal');
    expect(await textOf(page, '#own')).toContain('Enter an API key or a DID.');
    await show(page, `k_pro_${'x'.repeat(32)}`);
    await page.waitForFunction(() => !document.querySelector('#own')?.textContent?.includes('Enter'));
    expect(await textOf(page, '#own')).toContain('The usage can’t be shown.');
    await show(page, '', 'did:web:nobody.example');
    await page.waitForSelector('#own .empty');
    expect(await textOf(page, '#own .empty h2')).toBe('No calls yet');
  });
});

describe('the leaderboard', () => {
  test('has every member with its calls and its share, and the tiers', async () => {
    const opened = await visit('/leaderboard');
    const { page } = opened;
    await page.waitForSelector('#board .drawing');
    const rows = await page.locator('#board tbody tr').allInnerTexts();
    expect(rows).toHaveLength(2);
    expect(rows.join()).toMatch(/did:web:one\.example|did:web:one/);
    await page.waitForSelector('#tiers tr');
    expect(await page.locator('#tiers tr').allInnerTexts()).toEqual([
      'Member\t0\t35%',
      'Enterprise\t100\t40%',
      'Scale\t10,000\t50%',
    ]);
    expectQuiet(opened);
  });

  test('without members it says how to become the first', async () => {
    const url = await untouched();
    const { page } = await visit('/leaderboard', {}, url);
    await page.waitForSelector('#board .empty');
    expect(await textOf(page, '#board h2')).toBe('Nobody has registered yet');
    expect(await textOf(page, '#join')).toContain(`${url}/v1/compute/member/register`);
  });
});
