import {
  cosignCheckpoint,
  createSigner,
  generateSecretKey,
  signCheckpoint,
  toBase64url,
  toHex,
  withSignature,
  witnessKey,
} from '@tallystick/core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { hashOf } from '../../server/test/hashes.ts';
import { startTestService, testClock } from '../../server/test/service.ts';
import type { LogStatus, Posting } from '../src/console/pages/log/documents.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { launch, type Opened, openAt } from './browser.ts';
import { type ConsoleSite, startConsole } from './console-site.ts';
import { measureShifts, shifted } from './shifts.ts';

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

/** Opens an address; `prepare` comes before it is loaded. */
async function visit(
  path: string,
  { url = site.url, options = {}, prepare = async () => {} }: Visit = {},
): Promise<Opened> {
  const opened = await openAt(browser, 'about:blank', options);
  closing.push(() => opened.context.close());
  await measureShifts(opened.page);
  await prepare(opened.page);
  await opened.page.goto(url + path);
  return opened;
}

interface Visit {
  readonly url?: string;
  readonly options?: BrowserContextOptions;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** A service that nobody has used yet, and that has no chain. */
async function untouched(): Promise<string> {
  const service = await startTestService({ clock: testClock(Date.now()) });
  closing.push(() => service.close());
  return service.listen();
}

const expectShown = (page: Page, selector: string) => page.waitForSelector(selector);
const statusOf = async (): Promise<LogStatus> =>
  (await site.service.get('/v1/log')).json as unknown as LogStatus;
const findings = (page: Page): Promise<(readonly [string, string])[]> =>
  page
    .locator('.head .findings li')
    .evaluateAll((rows) =>
      rows.map((row) => [(row as HTMLElement).dataset['state'] ?? '', row.textContent ?? ''] as const),
    );
const expectFound = (page: Page, name: string, state: string): Promise<unknown> =>
  page.waitForSelector(`.head .findings li[data-state=${state}] >> text=${name}`);

let anchored = 0;
/** Adds a leaf, and waits for the checkpoint that covers it. */
async function grow(): Promise<void> {
  const { tree_size } = await statusOf();
  const body = { canonical_sha256: hashOf(`leaf ${anchored++}`) };
  await site.service.post('/v1/anchor', body, { authorization: `Bearer ${site.key}` });
  await vi.waitUntil(async () => (await statusOf()).tree_size > tree_size, 60_000);
}

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, look) => {
  test('the log, its postings and a leaf: nothing for axe, nothing moves, nothing from elsewhere', async () => {
    const { page, complaints, requests } = await visit('/log', { options: lookOf(width, look) });
    await expectShown(page, '.head .findings li');
    await expectShown(page, 'a.row');
    await expectAccessible(page, width);
    expect(await shifted(page)).toBeLessThan(0.05);
    await page.click('.monitor summary');
    await page.click('.head summary');
    await page.click('text=Postings to the chain');
    await expectShown(page, 'text=Time of block');
    await expectAccessible(page, width);
    await page.click('.lists >> text=Leaves');
    await page.locator('a.row').last().click();
    await expectShown(page, 'dialog .verdict[data-state=pass]');
    await expectAccessible(page, width);
    expect(complaints).toEqual([]);
    expect(requests.filter((address) => !address.startsWith(site.url) && address !== 'about:blank')).toEqual(
      [],
    );
  });
});

describe('the head', () => {
  test('says how far the log has come, is checked, and shows its note and what a monitor needs', async () => {
    const { page } = await visit('/log');
    await expectFound(page, 'Signature', 'pass');
    const log = await statusOf();
    expect(log.witnesses).toHaveLength(2);
    for (const key of log.witnesses) await expectFound(page, `Witness ${key.split('+')[0]}`, 'pass');
    const numbers = await page.locator('.glance dd:not(.note)').allInnerTexts();
    expect(numbers.slice(0, 3)).toEqual([`${log.accepted}`, `${log.tree_size}`, `${log.anchored_size}`]);
    expect(await page.getAttribute('[data-countdown]', 'data-countdown')).toMatch(/^[0-9]+$/);
    await page.click('.head summary');
    const note = await page.innerText('.head pre');
    expect(note.trim()).toBe((await site.service.get('/checkpoint')).text.trim());
    await page.click('.monitor summary');
    expect(await page.innerText('.monitor')).toContain(log.verifier_key);
  });

  test('of another log, or changed, is not the log’s', async () => {
    const url = await untouched();
    const checkpoint = (await site.service.get('/checkpoint')).text;
    for (const body of [checkpoint, 'nonsense']) {
      const { page } = await visit('/log', {
        url,
        prepare: (page) => page.route('**/checkpoint', (route) => route.fulfill({ body })),
      });
      await expectFound(page, 'Signature', 'fail');
    }
  });

  test('with a cosignature of a witness that the service names: one that holds, and one that does not', async () => {
    const signer = await createSigner(generateSecretKey());
    const witness = { name: 'witness.example', signer };
    const note = (await site.service.get('/checkpoint')).text;
    const good = await cosignCheckpoint(note, witness, 1_800_000_000);
    const other = await cosignCheckpoint(
      await signCheckpoint({ origin: 'x', size: 1, root: new Uint8Array(32) }, signer),
      witness,
      1_800_000_000,
    );
    for (const [line, state] of [
      [good, 'pass'],
      [other, 'unknown'],
    ] as const) {
      const { page } = await visit('/log', {
        async prepare(page) {
          await page.route('**/checkpoint', (route) => route.fulfill({ body: withSignature(note, line) }));
          const log = { ...(await statusOf()), witnesses: [witnessKey(witness.name, signer.publicKey)] };
          await page.route('**/v1/log', (route) => route.fulfill({ json: log }));
        },
      });
      await expectFound(page, 'Witness witness.example', state);
    }
  });
});

describe('since the last visit', () => {
  /** Lets the log grow while the browser shows another page: the page of the log reads the head again by itself. */
  const growUnseen = async (page: Page): Promise<void> => {
    await page.goto(`${site.url}/healthz`);
    await grow();
  };

  test('the log has grown, and the page has proved that nothing before was changed', async () => {
    const { page } = await visit('/log');
    await expectShown(page, '.head li[data-state=unknown]:has-text("Consistency This is your first visit")');
    await growUnseen(page);
    await page.goto(`${site.url}/log`);
    await expectFound(page, 'Consistency', 'pass');
    const [, text = ''] = (await findings(page)).find(([, text]) => text.startsWith('Consistency')) ?? [];
    expect(text).toMatch(/Since your visit of .* 1 leaf was added, and none of the \d+ before was changed/);
  });

  test('tiles of another tree prove nothing, and are told as such', async () => {
    const { page } = await visit('/log');
    await expectFound(page, 'Signature', 'pass');
    await growUnseen(page);
    await page.route('**/tile/**', (route) => route.fulfill({ body: Buffer.alloc(256 * 32, 7) }));
    await page.goto(`${site.url}/log`);
    await expectFound(page, 'Consistency', 'fail');
    expect(await page.locator('.alarm').count()).toBe(0);
    await page.unroute('**/tile/**');
    await page.reload();
    await expectFound(page, 'Consistency', 'pass');
  });

  test.each([
    ['fork', 'contradict', (size: number) => size - 1],
    ['rollback', 'fewer leaves', (size: number) => size + 5],
  ])('a %s is told loudly, with both signed heads in one file', async (kind, words, sizeOf) => {
    const log = await statusOf();
    const signer = site.service.services.issuer.signer('log');
    const forged = { origin: log.origin, size: sizeOf(log.tree_size), root: new Uint8Array(32).fill(7) };
    const note = await signCheckpoint(forged, signer);
    const { page } = await visit('/log', {
      prepare: (page) =>
        page.addInitScript(
          ([origin, held]) => localStorage.setItem(`tallystick-log ${origin}`, held ?? ''),
          [log.origin, JSON.stringify({ note, seen: '2027-01-01T00:00:00.000Z' })],
        ),
    });
    await expectShown(page, '.alarm[role=alert]');
    await expectAccessible(page, 1280);
    expect(await page.innerText('.alarm')).toContain(words);
    await expectFound(page, 'Consistency', 'fail');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.alarm button')]);
    expect(download.suggestedFilename()).toBe(`log-${kind}.json`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const proof = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, { note: string }>;
    expect(proof['earlier']?.note).toBe(note);
    expect(proof['later']?.note).toContain(log.origin);
    expect(proof['verifier_key']).toBe(log.verifier_key);
  });
});

describe('a hash', () => {
  const lookUp = async (page: Page, text: string): Promise<void> => {
    await page.fill('#find-leaf', text);
    await page.keyboard.press('Enter');
  };

  test('is found however it is written, with its path and root checked', async () => {
    const { page } = await visit('/log');
    await expectShown(page, 'a.row');
    const hex = toHex(site.anchoredHash);
    for (const written of [toBase64url(site.anchoredHash), hex, `sha256:${hex}`, hex.toUpperCase()]) {
      await lookUp(page, written);
      await expectShown(page, 'dialog .verdict[data-state=pass]');
      expect(await page.locator('dialog li[data-state=pass]').count()).toBe(2);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
    }
    await lookUp(page, 'x');
    await expectShown(page, '#find-problem');
    await lookUp(page, '00'.repeat(32));
    await expectShown(page, 'dialog >> text=Not in this log');
  });

  test('is not shown with the verdict on the one before, back in the history', async () => {
    const { page } = await visit('/healthz');
    const missing = hashOf('in no log');
    await page.goto(`${site.url}/log?hash=${missing}`);
    await expectShown(page, 'dialog >> text=Not in this log');
    await page.evaluate((hash) => {
      const link = document.createElement('a');
      link.href = `/log?hash=${hash}`;
      document.body.append(link);
      link.click();
    }, toHex(site.anchoredHash));
    await expectShown(page, 'dialog .verdict[data-state=pass]');
    await page.route('**/v1/anchor/by-hash/*', () => undefined);
    await page.goBack();
    await expectShown(page, `dialog .id >> text=${missing}`);
    expect(await page.locator('dialog .verdict').count()).toBe(0);
  });

  test('that is not on the chain yet is proved by tiles, under the newest checkpoint', async () => {
    await grow();
    const hash = hashOf(`leaf ${anchored - 1}`);
    const { tree_size } = await statusOf();
    const { page } = await visit('/healthz');
    const answer = {
      anchor_ref: `urn:anchor:pending:2027-03-01T13:00Z:${(tree_size - 1).toString(36)}`,
      batch_id: '2027-03-01T13:00Z',
      eta_seconds: 1_500,
    };
    await page.route('**/v1/anchor/by-hash/*', (route) => route.fulfill({ json: answer }));
    await page.goto(`${site.url}/log?hash=${hash}`);
    await expectShown(page, 'dialog .verdict[data-state=pass] >> text=not on the chain yet');
    await page.goto(`${site.url}/log?hash=${hashOf('another')}`);
    await expectShown(page, 'dialog .verdict[data-state=fail]');
  });

  test.each([
    ['another root', 'merkle_root', `sha256:${'0'.repeat(64)}`],
    ['a path that leads elsewhere', 'merkle_path', [`sha256:${'0'.repeat(64)}`]],
    ['another size', 'tree_size', 4_000_000],
    ['a checkpoint that the log did not sign', 'checkpoint', 'x\n1\nAAAA\n\n— x AAAA\n'],
    ['another leaf', 'leaf_index', 77],
  ])('in an answer with %s is not believed', async (_, member, value) => {
    const { page } = await visit('/healthz');
    await page.route('**/v1/anchor/by-hash/*', async (route) => {
      const { json } = await site.service.get(`/v1/anchor/by-hash/${toBase64url(site.anchoredHash)}`);
      await route.fulfill({ json: { ...json, [member]: value } });
    });
    await page.goto(`${site.url}/log?hash=${toHex(site.anchoredHash)}`);
    await expectShown(page, 'dialog .verdict[data-state=fail]');
    expect(await page.innerText('dialog .verdict h2')).toBe('The proof does not hold');
  });
});

test('by keyboard: / finds an index, j and Enter open a leaf, Escape closes it', async () => {
  const { page } = await visit('/log');
  await expectShown(page, 'a.row');
  await page.keyboard.press('/');
  await page.keyboard.type('0');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/log?from_index=0');
  await page.waitForFunction(() => document.querySelectorAll('a.row').length === 1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expectShown(page, 'dialog .verdict');
  await page.keyboard.press('Escape');
  await page.waitForURL('**/log?from_index=0');
});

test('postings are listed with their transactions, which link to an explorer where the chain has one', async () => {
  const { page } = await visit('/log?list=postings');
  const { postings } = (await site.service.get('/v1/log/postings')).json as unknown as {
    postings: Posting[];
  };
  const tx = postings.at(-1)?.tx_hash ?? '';
  await expectShown(page, `code[title="${tx}"]`);
  expect(await page.locator('a[target=_blank]').count()).toBe(0);
  const log = await statusOf();
  await page.route('**/v1/log', (route) =>
    route.fulfill({ json: { ...log, chain: { ...log.chain, chain_id: 84_532 } } }),
  );
  await page.reload();
  await expectShown(page, `a[href="https://sepolia.basescan.org/tx/${tx}"]`);
});

test('with nothing in the log, and without a chain, it says so', async () => {
  const { page } = await visit('/log', { url: await untouched() });
  await expectFound(page, 'Signature', 'pass');
  await expectShown(page, 'text=No hash is in the log yet');
  await page.click('text=Postings to the chain');
  await expectShown(page, 'text=no chain configured');
});

test('without the service it says so in each place', async () => {
  const { page } = await visit('/healthz');
  await page.route('**/{v1/**,checkpoint}', (route) => route.abort());
  await page.goto(`${site.url}/log`);
  await expect.poll(() => page.locator('.problem').count()).toBe(2);
});
