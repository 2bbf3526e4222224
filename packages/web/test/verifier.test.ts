import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkTrustBundle } from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  anchorCases,
  authorityOf,
  bundleOf,
  fingerprintOf,
  readVectors,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { startTestService, type TestService, testClock } from '../../server/test/service.ts';
import { builtPage } from '../scripts/page.ts';
import { expectAccessible } from './axe.ts';
import { addBundle, launch, open, readShown, verifyText } from './browser.ts';

let browser: Browser;
let service: TestService;
let served: string;
let folder: string;
let saved: string;

beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: testClock(Date.now()) });
  served = `${await service.listen()}/verify`;
  folder = mkdtempSync(join(tmpdir(), 'tally-verify-'));
  const copy = join(folder, 'a copy of the page.html');
  cpSync(builtPage('verify'), copy);
  saved = pathToFileURL(copy).href;
});
afterAll(async () => {
  await browser.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

/** The page as it is built, for a site that does not exist. */
const html = readFileSync(builtPage('verify'), 'utf8');

const mint = async (purpose = 'a test'): Promise<string> =>
  (await service.post('/v1/receipt/free', { input: 'hello', purpose })).text;

async function runFive(page: Page): Promise<{ summary: string; outcomes: string[] }> {
  await page.click('#run-five');
  await page.waitForSelector('#five-summary:not([hidden])');
  return {
    summary: (await page.textContent('#five-summary')) ?? '',
    outcomes: await page.locator('#five-list .outcome strong').allTextContents(),
  };
}

/** A file of this many bytes, all 0, which take no room on the disk. */
function fileOf(bytes: number): string {
  const path = join(folder, `${bytes}.json`);
  writeFileSync(path, '');
  truncateSync(path, bytes);
  return path;
}

test.each([
  ['receipt', 600_000_000],
  ['session', 600_000_000],
  // Evidence is read line by line, but at once.
  ['evidence', 2 ** 31],
])(
  'a file for the %s that browsers do not read, of %i bytes, is not taken for an empty one',
  async (id, bytes) => {
    const { page, context, complaints } = await open(browser, saved);
    await verifyText(page, await mint());
    await page.setInputFiles(`#${id}-file`, fileOf(bytes));
    await page.waitForSelector('#result .verdict[data-state=fail] >> text=file_too_large');
    expect(await page.innerText('#result h2')).toBe('The file can’t be read');
    expect(await page.innerText('#result')).toContain(`${bytes}.json has ${bytes} bytes.`);
    expect(await page.textContent(`#${id}-source, #${id}-files`)).toBe('');
    await expectAccessible(page, 1440);
    expect(complaints).toEqual([]);
    await context.close();
  },
);

test('a dropped file that browsers do not read is refused, whatever is dropped with it', async () => {
  const { page, context, complaints } = await open(browser, saved);
  await page.evaluate(
    (receipt) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([receipt], 'receipt.json'));
      const part = new Blob(['x'.repeat(1e6)]);
      const parts = Array.from({ length: 600 }, () => part);
      dataTransfer.items.add(new File(parts, 'leaves.ndjson'));
      dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
    },
    await mint(),
  );
  await page.waitForSelector('#result >> text=leaves.ndjson has 600000000 bytes.');
  expect(complaints).toEqual([]);
  await context.close();
});

describe.each([
  ['served by the service', () => served, false],
  ['saved to disk, with the network off', () => saved, true],
])('%s', (_, url, offline) => {
  test('runs the five reference checks, again and again, and asks for nothing', async () => {
    const { page, context, requests, complaints } = await open(browser, url());
    await context.setOffline(true);
    await context.route('**', (route) => route.abort());
    const expected = {
      summary: 'All five gave the expected result.',
      outcomes: ['Valid.', 'Mismatch.', 'Signature invalid.', 'Verified.', 'Refused.'],
    };
    expect(await runFive(page)).toEqual(expected);
    expect(await runFive(page)).toEqual(expected);
    await verifyText(page, await mint());
    await page.click('#clear');
    const own = requests.filter((address) => !address.startsWith('data:'));
    expect(own).toEqual([url()]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('opens a sample in the verifier', async () => {
    const { page, context } = await open(browser, url());
    await runFive(page);
    await page.locator('#five-list button').nth(1).click();
    await page.waitForSelector('#result h2');
    const shown = await page.evaluate(readShown);
    expect(shown).toMatchObject({ valid: false, integrity: false });
    const failed =
      'checks' in shown ? shown.checks.filter(({ ok }) => ok === false).map(({ name }) => name) : [];
    expect(failed).toEqual(['signature', 'payload_sha256', 'receipt_id_derived']);
    await context.close();
  });

  test('can’t reach the network even if its script wanted to', async () => {
    const { page, context } = await open(browser, url());
    const outcome = await page.evaluate(
      async (target) => {
        const refused = async (act: () => Promise<unknown>) => {
          try {
            await act();
            return false;
          } catch {
            return true;
          }
        };
        const image = (): Promise<unknown> =>
          new Promise((resolve, reject) => {
            const element = new Image();
            element.addEventListener('load', resolve);
            element.addEventListener('error', reject);
            element.src = `${target}favicon.ico`;
          });
        const script = document.createElement('script');
        script.textContent = 'window.injected = true';
        document.body.append(script);
        return [await refused(() => fetch(target)), await refused(image), 'injected' in window];
      },
      served.replace('verify', ''),
    );
    expect(outcome).toEqual([true, true, false]);
    await context.close();
  });

  test('needs no site around it', async () => {
    const { page, context } = await open(browser, url());
    expect(await page.isVisible('#pages')).toBe(!offline);
    expect(await page.getAttribute('.brand', 'href')).toBe(offline ? null : '/');
    await context.close();
  });
});

test('a receipt of the service that served the page is valid and trusted, and the root can be compared', async () => {
  const { page, context } = await open(browser, served);
  const { headers } = await service.get('/.well-known/trust.json');
  expect(await page.textContent('#trust-state')).toContain('From the site that served this page');
  expect(await page.textContent('[data-slot=root]')).toContain(headers.get('x-root-fingerprint'));
  await verifyText(page, await mint());
  expect(await page.evaluate(readShown)).toMatchObject({ valid: true, integrity: true, trusted: true });
  expect(await page.textContent('#result h2')).toBe('Valid, from an issuer you trust');
  await verifyText(page, (await mint()).replace('a test', 'a tess'));
  expect(await page.textContent('#result h2')).toBe('Not valid: changed or forged');
  expect(await page.textContent('#result')).toContain('Do not rely on any field below');
  await context.close();
});

test('the page that its own button saves works from disk', async () => {
  const { page, context } = await open(browser, served);
  await runFive(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  const copy = await open(browser, pathToFileURL(path).href, { offline: true });
  expect(await copy.page.locator('#five-list .outcome').count()).toBe(0);
  expect((await runFive(copy.page)).summary).toBe('All five gave the expected result.');
  await verifyText(copy.page, await mint());
  expect(await copy.page.evaluate(readShown)).toMatchObject({ trusted: true });
  expect(copy.complaints).toEqual([]);
  await copy.context.close();
  await context.close();
});

test('over plain HTTP it verifies receipts, and says which of the five it can’t try', async () => {
  const { page, context, complaints } = await open(browser, 'http://plain.example/verify', {}, html);
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  expect(await runFive(page)).toEqual({
    summary: 'Four gave the expected result. The sealed document was not opened.',
    outcomes: ['Valid.', 'Mismatch.', 'Signature invalid.', 'Not run.', 'Refused.'],
  });
  await verifyText(page, await mint());
  expect(await page.evaluate(readShown)).toMatchObject({ valid: true, trusted: false });
  await verifyText(page, (await mint()).replace('a test', 'a tess'));
  expect(await page.evaluate(readShown)).toMatchObject({ valid: false, integrity: false });
  expect(complaints).toEqual([]);
  await context.close();
});

describe('an anchor', () => {
  const named = (wanted: string) => {
    const found = anchorCases.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`There is no case ${wanted}.`);
    return found;
  };

  /** The page with the trust and the time of a case. */
  async function openFor(wanted: string) {
    const vector = named(wanted);
    const opened = await open(browser, saved);
    await addBundle(opened.page, await bundleOf(stores[vector.trust], 1, 'a', authorityOf(vector)));
    await opened.page.waitForSelector('text=Version 1');
    await opened.page.evaluate(() => {
      for (const panel of document.querySelectorAll('details')) panel.open = true;
    });
    await opened.page.fill('#as-of', vector.now);
    const receipt = JSON.stringify(vector.document);
    return { ...opened, vector, receipt, anchor: JSON.stringify(vector.anchor) };
  }

  const anchorChecks = async (page: Page): Promise<unknown[]> => {
    const shown = await page.evaluate(readShown);
    const all = 'checks' in shown ? shown.checks : [];
    return all.filter(({ name }) => name.startsWith('anchor')).map(({ name, ok }) => `${name}: ${ok}`);
  };
  const offline = ['anchor: true', 'anchor_checkpoint: true', 'anchor_transaction: null'];

  test('is laid out with what an explorer has to show, and what it does not prove', async () => {
    const { page, context, receipt, anchor, vector } = await openFor('checkpoint and transaction');
    await page.fill('#anchor', anchor);
    await verifyText(page, receipt);
    expect(await anchorChecks(page)).toEqual(offline);
    const place = Object.fromEntries(
      await page.$$eval('#result .anchor dl > div', (rows) =>
        rows.map((row) => [row.children[0]?.textContent, row.children[1]?.firstChild?.textContent]),
      ),
    );
    const { transaction } = vector;
    expect(place).toMatchObject({
      Network: 'base',
      Block: '25000000',
      'Leaf, counted from 0': '3',
      'Leaves covered by the root': '7',
      'Path, from leaf to root': '3 hashes',
      Transaction: transaction?.tx_hash,
      'Input data': transaction?.data,
      From: authorityOf(vector).chain?.address,
    });
    expect(place.Checkpoint).toContain(authorityOf(vector).log?.origin);
    const [proves, not] = await page.locator('#result .columns ul').allTextContents();
    expect(proves).toContain('receipts.example/log signed this root over 7 leaves.');
    expect(not).toContain('this page does not ask the chain');
    await context.close();
  });

  test('that was tampered with makes the receipt not valid, and nothing is offered to compare', async () => {
    const { page, context, receipt, anchor } = await openFor('one bit of the path');
    await page.fill('#anchor', anchor);
    await verifyText(page, receipt);
    expect(await page.evaluate(readShown)).toMatchObject({ valid: false, integrity: true });
    expect(await page.textContent('#result h2')).toBe('Intact, but not valid');
    const block = await page.textContent('#result .anchor');
    expect(block).toContain('The anchor is not valid: the fields below are only its claims.');
    expect(block).not.toContain('Input data');
    await context.close();
  });

  test('dropped as a file goes where it belongs, and is cleared with the rest', async () => {
    const { page, context, receipt, anchor } = await openFor('offline');
    await verifyText(page, receipt);
    expect(await anchorChecks(page)).toEqual(['anchor: null']);
    await drop(page, anchor, 'anchor-source');
    await page.waitForSelector('#result .anchor');
    expect(await anchorChecks(page)).toEqual(offline);
    expect(await page.textContent('#anchor-source')).toContain('dropped');
    await page.click('#clear');
    expect(await page.inputValue('#anchor')).toBe('');
    await verifyText(page, receipt);
    expect(await anchorChecks(page)).not.toEqual(offline);
    await context.close();
  });

  test('that the receipt carries is judged unless another is given', async () => {
    const { page, context, receipt } = await openFor('carried');
    await verifyText(page, receipt);
    expect(await anchorChecks(page)).toEqual(offline);
    await page.fill('#anchor', '{}');
    await page.click('#verify');
    await page.waitForSelector('text=anchor_ref must be');
    expect(await page.evaluate(readShown)).toMatchObject({ valid: false });
    await page.fill('#anchor', '{');
    await page.click('#verify');
    await page.waitForSelector('text=The anchor can’t be read');
    await context.close();
  });

  test('that is pending proves nothing yet, and says what it waits for', async () => {
    const { page, context, receipt, anchor } = await openFor('pending');
    await drop(page, anchor, 'anchor-source');
    expect(await page.inputValue('#anchor')).toBe(anchor);
    await verifyText(page, receipt);
    expect(await anchorChecks(page)).toEqual(['anchor: null']);
    expect(await page.textContent('#result .anchor')).toContain('its root will be posted at');
    await page.fill('#as-of', '2026-01-15T12:01:00Z');
    await page.click('#verify');
    await page.waitForSelector('text=Its root was due at');
    await context.close();
  });
});

describe('trust', () => {
  const records = stores.known;

  test('a bundle is remembered with its root; what is older, other or forged is refused', async () => {
    const { page, context } = await open(browser, saved);
    const error = () => page.textContent('#trust-error [data-slot=code]');
    await addBundle(page, await bundleOf(records, 2));
    await page.waitForSelector('text=Version 2');
    expect(await page.textContent('[data-slot=root]')).toContain(await fingerprintOf('a'));
    await addBundle(page, await bundleOf(records, 1));
    await page.waitForSelector('#trust-error [data-slot=code]');
    expect(await error()).toBe('trust_rollback');
    await addBundle(page, await bundleOf(records, 3, 'b'));
    await page.waitForSelector('text=trust_root_mismatch');
    await addBundle(page, (await bundleOf(records, 3)).replace('"verified"', '"registered"'));
    await page.waitForSelector('text=trust_signature_invalid');
    expect(await page.textContent('[data-slot=version]')).toContain('Version 2');

    await page.reload();
    await page.waitForSelector('text=Version 2');
    await page.click('text=Forget the remembered root');
    await page.waitForSelector('text=No trust bundle');
    await addBundle(page, await bundleOf(records, 1, 'b'));
    await page.waitForSelector('text=Version 1');
    await context.close();
  });

  test('a remembered root holds against the site itself', async () => {
    const { page, context } = await open(browser, served);
    await addBundle(page, await bundleOf(records, 1));
    await page.waitForSelector('text=The site’s own bundle is refused.');
    expect(await page.textContent('#trust-state')).toContain('trust_root_mismatch');
    expect(await page.textContent('#trust-state')).toContain('Remembered in this browser');
    await verifyText(page, await mint());
    expect(await page.evaluate(readShown)).toMatchObject({ valid: true, trusted: false });
    await page.click('text=Forget the remembered root');
    await page.waitForSelector('text=Remember this root');
    await page.click('text=Remember this root');
    await page.waitForSelector('text=signed by the root that you remember');
    expect(await page.evaluate(readShown)).toMatchObject({ valid: true, trusted: true });
    await context.close();
  });
});

describe('what a newer bundle takes back', () => {
  const [record, ...others] = stores.known;
  const [key, ...keys] = record?.keys ?? [];
  if (!record || !key) throw new Error('The store has no key.');
  const revoked = { at: '2026-01-01T00:00:00Z', reason: 'compromised' } as const;
  const earlier = [{ ...record, keys: [{ ...key, state: 'revoked', revoked }, ...keys] }, ...others] as const;
  const sentence = `The revocation of the key ${key.key_id} of ${record.did}, at ${revoked.at}, was taken back or weakened.`;
  const named = '#trust-state .taken-back li';
  const address = 'https://receipts.example/verify';
  /** The page as a service serves it, with its bundle. */
  const servedWith = (bundle: string): string =>
    html.replace(
      'id="site-trust">null',
      () => `id="site-trust">{"site":"receipts.example","bundle":${bundle}}`,
    );

  test('is named beside the bundle, through newer ones and visits, until the root is forgotten', async () => {
    const { page, context, complaints } = await open(browser, saved);
    for (const [version, records] of [earlier, earlier].entries()) {
      await addBundle(page, await bundleOf(records, version + 2));
      await page.waitForSelector(`text=Version ${version + 2}`);
      expect(await page.locator(named).count()).toBe(0);
    }
    for (const version of [4, 5]) {
      await addBundle(page, await bundleOf(stores.known, version));
      await page.waitForSelector(`text=Version ${version}`);
      expect(await page.locator(named).allTextContents()).toEqual([sentence]);
    }
    await page.reload();
    await page.waitForSelector(named);
    expect(await page.innerText('#trust-state')).toContain('Newer bundles took back what earlier ones said.');
    await expectAccessible(page, 1440);
    await page.click('text=Forget the remembered root');
    await page.waitForSelector('text=No trust bundle');
    expect(await page.locator(named).count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('is named of a bundle that the site serves, though another page took it meanwhile', async () => {
    const { page, context, complaints } = await open(
      browser,
      address,
      {},
      servedWith(await bundleOf(earlier, 2)),
    );
    await page.click('text=Remember this root');
    await page.waitForSelector('text=signed by the root that you remember');
    for (const version of [3, 4]) {
      const body = servedWith(await bundleOf(stores.known, version));
      await context.route(address, (route) => route.fulfill({ body, contentType: 'text/html' }));
      await page.reload();
      await page.waitForSelector(`text=Version ${version}`);
      expect(await page.locator(named).allTextContents()).toEqual([sentence]);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('can’t be told of a remembered bundle that was damaged, which is said', async () => {
    const { page, context, complaints } = await open(browser, saved);
    await addBundle(page, await bundleOf(earlier, 2));
    await page.waitForSelector('text=Version 2');
    await page.evaluate(() => {
      const held = JSON.parse(localStorage.getItem('tallystick-trust') ?? '');
      localStorage.setItem('tallystick-trust', JSON.stringify({ ...held, bundle: { issuers: null } }));
    });
    await page.reload();
    await page.waitForSelector('text=The remembered bundle is not used.');
    await addBundle(page, await bundleOf(stores.known, 1));
    await page.waitForSelector('#trust-error >> text=trust_rollback');
    await addBundle(page, await bundleOf(stores.known, 3));
    await page.waitForSelector(named);
    expect(await page.locator(named).allTextContents()).toEqual([
      'The bundle that was kept is damaged, so nothing shows what the newer one takes back of it.',
    ]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('what can’t be relied on', () => {
  test('what the browser remembers was damaged: nothing passes until it is forgotten', async () => {
    const { page, context, complaints } = await open(browser, served);
    const damaged = [
      '',
      '{',
      'null',
      '{}',
      '{"pin":{},"bundle":{}}',
      '{"pin":{"version":1},"bundle":null}',
    ].concat('{"pin":null,"bundle":null,"takenBack":1}');
    for (const contents of damaged) {
      await page.evaluate((text) => localStorage.setItem('tallystick-trust', text), contents);
      await page.reload();
      await page.waitForSelector('text=The remembered bundle is not used.');
      await verifyText(page, await mint());
      expect(await page.evaluate(readShown)).toMatchObject({ valid: true, trusted: false });
    }
    await page.click('text=Forget the remembered root');
    await page.waitForSelector('text=Remember this root');
    expect(await page.evaluate(readShown)).toMatchObject({ valid: true, trusted: true });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('a saved bundle whose pin was damaged, or is another bundle’s, is refused', async () => {
    const { page, context } = await open(browser, saved);
    const bundle = await bundleOf(stores.known);
    const { pin } = await checkTrustBundle(JSON.parse(bundle), { now: Date.now() });
    const withPin = (changes: object): string =>
      `{"bundle":${bundle},"pin":${JSON.stringify({ ...pin, ...changes })}}`;
    for (const [changes, code] of [
      [{ root: undefined }, 'trust_invalid'],
      [{ bundle_sha256: '00'.repeat(32) }, 'trust_invalid'],
      [{ root: `sha256:${'00'.repeat(32)}` }, 'trust_root_mismatch'],
    ] as const) {
      await addBundle(page, withPin(changes));
      await page.waitForSelector(`#trust-error >> text=${code}`);
      expect(await page.textContent('#trust-state')).toContain('No trust bundle');
    }
    await addBundle(page, withPin({}));
    await page.waitForSelector('text=Version 1');
    await context.close();
  });

  test('a bundle that gives a key another name is refused, though it is signed', async () => {
    const { page, context } = await open(browser, saved);
    const [record] = stores.known;
    const [first, second] = record?.keys ?? [];
    if (!record || !first || !second) throw new Error('The store has not two keys.');
    const keys = [{ ...first, public_key: second.public_key }];
    await addBundle(page, await bundleOf([{ ...record, keys }]));
    await page.waitForSelector('#trust-error [data-slot=code]');
    expect(await page.textContent('#trust-error [data-slot=code]')).toBe('trust_invalid');
    expect(await page.textContent('#trust-state')).toContain('No trust bundle');
    await context.close();
  });

  test('a verdict goes away when what it was about is edited', async () => {
    const { page, context } = await open(browser, served);
    await verifyText(page, await mint());
    await page.locator('#receipt').press('End');
    await page.keyboard.type(' ');
    expect(await page.isVisible('#result')).toBe(false);
    await page.click('#verify');
    await page.waitForSelector('#result h2');
    await context.close();
  });
});

test('of two bundles that are added at once the newer one stays, whichever is checked first', async () => {
  const { page, context } = await open(browser, saved);
  // The check of the older one ends after that of the newer one.
  await page.evaluate(() => {
    const { subtle } = crypto;
    const verify = subtle.verify.bind(subtle);
    const newer = Promise.withResolvers<void>();
    subtle.verify = async (...given: Parameters<typeof verify>) => {
      const text = new TextDecoder().decode(given[3]);
      const holds = await verify(...given);
      if (text.includes('"version":2')) await newer.promise;
      if (text.includes('"version":3')) setTimeout(newer.resolve);
      return holds;
    };
  });
  const [older, newer] = await Promise.all([2, 3].map((version) => bundleOf(stores.known, version)));
  await page.evaluate(
    (bundles) => {
      const box = document.querySelector<HTMLTextAreaElement>('#trust');
      for (const bundle of bundles) {
        if (box) box.value = bundle;
        document.getElementById('trust-add')?.click();
      }
    },
    [older ?? '', newer ?? ''],
  );
  await page.waitForSelector('#trust-error >> text=trust_rollback');
  expect(await page.textContent('#trust-state [data-slot=version]')).toContain('Version 3');
  await context.close();
});

describe('what is put in', () => {
  const [minimal] = readVectors('envelope.json');
  const receipt = JSON.stringify(minimal?.document);

  test.each([
    ['an empty box', '', 'json_empty'],
    ['what was cut off', receipt.slice(0, -5), 'json_syntax'],
    ['a member that comes twice', '{"v":1,"v":2}', 'json_duplicate_member'],
    ['half a character', '{"v":"\\ud800"}', 'json_lone_surrogate'],
    ['a huge integer', '{"v":9007199254740993}', 'json_integer_range'],
    ['too deep a nesting', '['.repeat(65) + ']'.repeat(65), 'json_depth'],
  ])('%s is explained, with what to do', async (_, text, code) => {
    const { page, context } = await open(browser, saved);
    await verifyText(page, text);
    expect(await page.evaluate(readShown)).toEqual({ code, title: 'The receipt can’t be read' });
    expect(await page.textContent('#result [data-slot=advice]')).toMatch(/\w{3}/);
    expect(await page.textContent('#alert')).toContain('The receipt can’t be read');
    await context.close();
  });

  test('files are judged by their bytes, and dropped ones go where they belong', async () => {
    const { page, context } = await open(browser, saved);
    const bom = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(receipt)]);
    await page.setInputFiles('#receipt-file', {
      name: 'bom.json',
      mimeType: 'application/json',
      buffer: bom,
    });
    await page.waitForSelector('text=json_bom');
    const metered = readVectors('metering.json').find(
      ({ evidence, expected }) => evidence?.length === 5 && 'valid' in expected && expected.valid,
    );
    const lines = metered?.evidence?.map((leaf) => JSON.stringify(leaf)).join('\n') ?? '';
    await drop(page, await bundleOf(stores.known), 'trust-state');
    await drop(page, `${lines}\n`, 'evidence-source');
    await drop(page, JSON.stringify(metered?.document), 'receipt-source');
    await page.waitForSelector('#result .coverage');
    const shown = await page.evaluate(readShown);
    expect(shown).toMatchObject({ valid: true, trusted: true });
    expect('checks' in shown && shown.checks.find(({ name }) => name === 'evidence')).toMatchObject({
      ok: true,
    });
    expect(await page.textContent('.coverage')).toContain(
      '5 of 7 units (pallet moved) carry evidence: 71.43 %',
    );
    const width = await page.$eval('.bar .backed', (part) => part.getBoundingClientRect().width);
    const whole = await page.$eval('.bar', (bar) => bar.getBoundingClientRect().width);
    expect(width / whole).toBeCloseTo(5 / 7, 1);
    await context.close();
  });

  test.each([
    [
      'whole receipts as evidence',
      true,
      '4 verified (3 trusted, 2 issued in the window), 0 logged, 1 hashed',
    ],
    ['the hashes of the same receipts', true, '0 verified, 0 logged, 5 hashed'],
    ['whole receipt that was changed', false, 'evidence[0].receipt is not valid: signature: '],
  ])('evidence is verified, and counted by what stands behind it: %s', async (name, ok, detail) => {
    const { page, context } = await open(browser, saved);
    const metered = readVectors('metering.json').find((vector) => vector.name === name);
    const lines = metered?.evidence?.map((item) => JSON.stringify(item)).join('\n') ?? '';
    await drop(page, await bundleOf(stores.known), 'trust-state');
    await drop(page, `${lines}\n`, 'evidence-source');
    await drop(page, JSON.stringify(metered?.document), 'receipt-source');
    await page.waitForSelector('#result .coverage');
    const shown = await page.evaluate(readShown);
    expect('checks' in shown && shown.checks.find((check) => check.name === 'evidence')).toMatchObject({
      ok,
    });
    expect(await page.textContent('.coverage')).toContain(detail);
    await context.close();
  });

  test('the time that was asked for is said in the verdict', async () => {
    const { page, context } = await open(browser, saved);
    await page.evaluate(() => document.getElementById('time-panel')?.setAttribute('open', ''));
    await page.fill('#as-of', '2025-01-01T00:00:00Z');
    await verifyText(page, receipt);
    expect(await page.textContent('#result .asof')).toBe('Verified as of 2025-01-01T00:00:00Z, not now.');
    expect(await page.textContent('#result')).toContain('which is in the future');
    await page.fill('#as-of', 'yesterday');
    await verifyText(page, receipt);
    expect(await page.evaluate(readShown)).toEqual({ code: 'invalid_time', title: 'The time can’t be read' });
    await context.close();
  });

  test('names the anchored hash that core computes', async () => {
    const { page, context } = await open(browser, saved);
    const [anchored] = readVectors<{ document: object; expected: { sha256: string } }>('anchored-hash.json');
    await verifyText(page, JSON.stringify(anchored?.document));
    expect(await page.textContent('#result')).toContain(anchored?.expected.sha256);
    await context.close();
  });
});

describe('a receipt made to deceive', () => {
  const [older] = readVectors('legacy.json');
  const members = {
    markup: '<img src=x onerror="window.injected = true"><script>window.injected = true</script>',
    bidi: 'paid \u202eoslaf\u202c to you',
    unseen: 'a\u200bb\u0000c\u2028d\u3164e\u00a0f\u{e0041}g',
    '\u202ename\u0007': 1,
    long: 'x'.repeat(2_000_000),
    rows: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`member ${index}`, index])),
  };
  const body = JSON.stringify({ ...(older?.document as object), ...members });
  const hostile = body.replace(/\}$/, ',"__proto__":{"valid":true,"polluted":1}}');

  test('is shown for what it is, and breaks nothing', async () => {
    const { page, context, complaints } = await open(browser, saved, {
      viewport: { width: 320, height: 700 },
    });
    const buffer = Buffer.from(hostile);
    await page.setInputFiles('#receipt-file', { name: 'x.json', mimeType: 'application/json', buffer });
    await page.waitForSelector('#result .fields');
    expect(await page.evaluate(readShown)).toMatchObject({ valid: false, integrity: false });
    expect(await page.evaluate(() => ['injected' in window, 'polluted' in {}])).toEqual([false, false]);
    const text = await page.$eval('#result', (result) => result.textContent ?? '');
    for (const mark of [
      'U+202E',
      'U+202C',
      'U+200B',
      'U+0000',
      'U+2028',
      'U+3164',
      'U+00A0',
      'U+E0041',
      'U+0007',
    ]) {
      expect(text).toContain(mark);
    }
    expect(text).not.toMatch(/(?!\n)\p{Cc}|[\u200b-\u200f\u2028-\u202e\u2066-\u2069\u3164]/u);
    expect(text).toContain('Show all 2000000 characters');
    expect(text).toContain('More members follow.');
    expect(await page.locator('#result img, #result script').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('has each member by its name, also __proto__', async () => {
    const { page, context } = await open(browser, saved);
    await verifyText(page, '{"v":"svc-receipt-v1","__proto__":{"polluted":1},"constructor":null}');
    expect(await page.locator('#result .fields dt').allTextContents()).toEqual(
      expect.arrayContaining(['v', '__proto__', 'polluted', 'constructor']),
    );
    await context.close();
  });
});

/** Drops a file onto the page, and waits until it is taken. @param into id of the part of the page that changes then */
async function drop(page: Page, contents: string, into: string): Promise<void> {
  await page.evaluate(
    async ({ text, id }) => {
      const place = document.getElementById(id) as HTMLElement;
      const taken = new Promise((done) => new MutationObserver(done).observe(place, { childList: true }));
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], 'dropped'));
      dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
      await taken;
    },
    { text: contents, id: into },
  );
}

test('the page names no address but those of its own site, and names of namespaces and types that look like one', () => {
  const page = readFileSync(builtPage('verify'), 'utf8');
  const addresses = [...page.matchAll(/\bhttps?:\/\/[^\s"'<>`)]+/g)].map(([address]) => address);
  expect(
    addresses.filter(
      (address) => !/^https?:\/\/(?:www\.w3\.org|in-toto\.io\/Statement|receipts\.example)\//.test(address),
    ),
  ).toEqual([]);
});
