import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rootFingerprint } from '@tallystick/core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AT,
  bundleOfEarlyHeads,
  correcting,
  envelopeAt,
  goodFiles,
  makeIssuer,
  manifestOf,
  partOf,
  zipOf,
} from '../../core/test/evidence-bundle.ts';
import { receiptIdOf, runningClock, startTestService, type TestService } from '../../server/test/service.ts';
import { evidenceOf, newTenant } from '../../server/test/tenant.ts';
import { builtPage } from '../scripts/page.ts';
import { expectAccessible } from './axe.ts';
import { launch, openAt } from './browser.ts';

let browser: Browser;
let service: TestService;
let folder: string;
let url: string;
let bundle: string;
let root: string;
let bytes: Uint8Array;
beforeAll(async () => {
  browser = await launch();
  service = await startTestService({ clock: runningClock() });
  const tenant = await newTenant(service);
  for (let i = 0; i < 20; i++) {
    await service.post(`/tenants/${tenant.id}/receipts`, { input: `${i}` }, tenant.headers);
  }
  ({ bytes } = await evidenceOf(service, tenant));
  folder = mkdtempSync(join(tmpdir(), 'tally-evidence-'));
  bundle = join(folder, 'bundle.zip');
  writeFileSync(bundle, bytes);
  const page = join(folder, 'evidence.html');
  cpSync(builtPage('evidence'), page);
  url = pathToFileURL(page).href;
  root = /"root":"(sha256:[0-9a-f]{64})"/.exec(Buffer.from(bytes).toString('latin1'))?.[1] ?? '';
});
afterAll(async () => {
  await browser.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

async function verify(page: Page, file: string): Promise<string> {
  await page.setInputFiles('#bundle-file', file);
  await page.waitForSelector('#result .verdict');
  return (await page.getAttribute('#result .verdict', 'data-state')) ?? '';
}

test.each([320, 1440])(
  'at %i px, from disk and offline, a bundle verifies and shows its root',
  async (width) => {
    const { page, context, requests, complaints } = await openAt(browser, url, {
      offline: true,
      viewport: { width, height: 900 },
    });
    expect(await verify(page, bundle)).toBe('unsure');
    const shown = await page.innerText('#result');
    expect(shown).toContain(root);
    expect(shown).toMatch(/Receipts\s+20\s/);
    await expectAccessible(page, width);
    await page.fill('#root', root);
    await page.locator('#root').blur();
    await page.waitForSelector('#result .verdict[data-state=pass]');
    await page.fill('#root', `sha256:${'0'.repeat(64)}`);
    await page.locator('#root').blur();
    await page.waitForSelector('#result .verdict[data-state=fail]');
    expect(await page.innerText('#result h2')).toBe('Not signed under the root that you gave');
    expect(requests.filter((address) => address !== url)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  },
);

test('a bundle says which of its receipts are superseded, and by which', async () => {
  const tenant = await newTenant(service);
  const hex = (digit: string): string => digit.repeat(64);
  const meter = async (billed_unit_count: number) => {
    const bill = {
      machine_commitment: hex('1'),
      customer_commitment: hex('2'),
      salt_commitment: hex('3'),
      window_start: '2026-02-01T00:00:00Z',
      window_end: '2026-03-01T00:00:00Z',
      service_unit: 'pick',
      rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: hex('4') },
      evidence: [],
      billed_unit_count,
    };
    return receiptIdOf((await service.post('/v1/receipt/metering', bill, tenant.headers)).text);
  };
  const [first, second] = [await meter(42), await meter(40)];
  const call = { corrects: first, correction: second, reason: 'Two picks were counted twice.' };
  const link = await service.post('/v1/receipt/corrections', call, tenant.headers);
  expect(link.status, link.text).toBe(200);
  const file = join(folder, 'corrected.zip');
  writeFileSync(file, (await evidenceOf(service, tenant)).bytes);
  const { page, context, complaints } = await openAt(browser, url, {
    offline: true,
  });
  expect(await verify(page, file)).toBe('unsure');
  const shown = await page.innerText('#result');
  expect(shown).toMatch(/Corrections\s+1 superseded; they prove what they proved/);
  expect(shown).toContain(`${second} corrects ${first}, which is superseded and proves what it proved`);
  expect(shown).toContain('Reason: Two picks were counted twice.');
  await expectAccessible(page, 1280);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a bundle with receipts of a key that was compromised is intact, and says of how many', async () => {
  const issuer = await makeIssuer('burnt', '2027-02-28T12:00:00Z');
  const files = await goodFiles(issuer);
  const file = join(folder, 'burnt.zip');
  writeFileSync(file, zipOf([await manifestOf(issuer, files), ...files]));
  const { page, context, complaints } = await openAt(browser, url, { offline: true });
  await page.clock.setFixedTime(AT + 1000);
  await page.fill('#root', rootFingerprint(issuer.root.publicKey));
  expect(await verify(page, file)).toBe('unsure');
  expect(await page.innerText('#result h2')).toBe('Intact, but not every receipt is trusted');
  expect(await page.innerText('#result')).toMatch(
    /Receipts\s+4; the trust bundle does not vouch for the keys of 4 of them/,
  );
  expect(complaints).toEqual([]);
  await context.close();
});

test('a bundle whose issuer says two things of a receipt fails, and names both', async () => {
  const issuer = await makeIssuer();
  const second = AT / 1000 - 90_000;
  const envelopes = await Promise.all(
    ['a', 'b', 'c'].map((suffix) => envelopeAt(issuer.receipt, second, suffix)),
  );
  const [first = '', ...others] = envelopes;
  const links = await Promise.all(
    others.map((other, index) =>
      envelopeAt(issuer.receipt, second + 1, `${index}`, correcting(first, other)),
    ),
  );
  const files = [...(await goodFiles(issuer)).slice(0, 3), ...partOf(1, [...envelopes, ...links])];
  const manifest = await manifestOf(issuer, files, (facts) => ({ ...facts, receipts: 5, metering: 0 }));
  const file = join(folder, 'twice.zip');
  writeFileSync(file, zipOf([manifest, ...files]));
  const { page, context, complaints } = await openAt(browser, url, { offline: true });
  await page.clock.setFixedTime(AT + 1000);
  await page.fill('#root', rootFingerprint(issuer.root.publicKey));
  expect(await verify(page, file)).toBe('fail');
  expect(await page.innerText('#result h2')).toBe('Intact, but corrections do not hold');
  expect(await page.innerText('#result')).toContain('2 of 2 corrections are at fault');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a bundle with one byte changed is refused, with the reason and the file', async () => {
  const { page, context } = await openAt(browser, url, { offline: true });
  const changed = Buffer.from(bytes);
  const at = changed.lastIndexOf('"ok":true');
  changed.write('"ok":tRue', at);
  const file = join(folder, 'changed.zip');
  writeFileSync(file, changed);
  expect(await verify(page, file)).toBe('fail');
  const shown = await page.innerText('#result');
  expect(shown).toContain('file_crc');
  expect(shown).toContain('receipts/000001.ndjson');
  await context.close();
});

test('an empty file is refused, and so is a folder that is dropped', async () => {
  const { page, context, complaints } = await openAt(browser, url, { offline: true });
  const file = join(folder, 'empty.zip');
  writeFileSync(file, '');
  expect(await verify(page, file)).toBe('fail');
  expect(await page.innerText('#result')).toContain('zip_end');
  await page.evaluate(() => {
    const dropped = new File(['x'.repeat(4096)], 'bundle');
    // As the browser answers for a folder, which a script can't put into a drop.
    dropped.slice = () => {
      const refused = async (): Promise<never> => {
        throw new DOMException('A requested file or directory could not be found.', 'NotFoundError');
      };
      return Object.assign(new Blob(), { text: refused, arrayBuffer: refused });
    };
    dispatchEvent(Object.assign(new Event('drop'), { dataTransfer: { files: [dropped] } }));
  });
  await page.waitForSelector('#bundle-source >> text=bundle');
  await page.waitForSelector('#result >> text=could not be found');
  expect(complaints).toEqual([]);
  await context.close();
});

/** Drops files onto the page together. */
async function drop(page: Page, files: Readonly<Record<string, Uint8Array | string>>): Promise<void> {
  const contents = Object.entries(files).map(([name, of]) => [name, Buffer.from(of).toString('base64')]);
  await page.evaluate((all) => {
    const dataTransfer = new DataTransfer();
    for (const [name = '', base64 = ''] of all) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      dataTransfer.items.add(new File([bytes], name));
    }
    dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
  }, contents);
}

test('two bundles that are dropped together are not checked, and neither is taken for the other', async () => {
  const { page, context, complaints } = await openAt(browser, url, { offline: true });
  await verify(page, bundle);
  await drop(page, { 'march.zip': bytes, 'april.zip': bytes });
  await page.waitForSelector('#result .verdict[data-state=unknown]');
  expect(await page.innerText('#result h2')).toBe('Nothing was checked');
  expect(await page.innerText('#result')).toContain('You dropped 2 files together: march.zip, april.zip.');
  expect(await page.textContent('#bundle-source')).toBe('');
  await expectAccessible(page, 1280);
  // The fingerprint is about a bundle, and there is none.
  await page.fill('#root', root);
  await page.locator('#root').blur();
  await page.waitForSelector('#result .verdict[data-state=unknown]');
  expect(complaints).toEqual([]);
  await context.close();
});

test.each([
  ['policy.txt', 'bundle.zip'],
  ['bundle.zip', 'policy.txt'],
])('%s and %s, dropped together, are both used', async (...names) => {
  const { page, context, complaints } = await openAt(browser, url, { offline: true });
  const policy = 'quorum none\n';
  await drop(page, Object.fromEntries(names.map((name) => [name, name.endsWith('.zip') ? bytes : policy])));
  await page.waitForSelector('#result .verdict[data-state=unsure]');
  expect(await page.textContent('#bundle-source')).toContain('bundle.zip');
  expect(await page.inputValue('#policy')).toBe(policy);
  expect(await page.innerText('#result')).toContain('Witnessed');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a file that is neither a bundle nor small enough for a policy is said to be too large', async () => {
  const { page, context, complaints } = await openAt(browser, url, { offline: true });
  await verify(page, bundle);
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    const part = new Blob(['x'.repeat(1e6)]);
    const parts = Array.from({ length: 600 }, () => part);
    dataTransfer.items.add(new File(parts, 'huge.txt'));
    dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
  });
  await page.waitForSelector('#result >> text=huge.txt has 600000000 bytes: too many for a witness policy.');
  expect(await page.innerText('#result h2')).toBe('Nothing was checked');
  const file = join(folder, 'huge.txt');
  writeFileSync(file, '');
  truncateSync(file, 6e8);
  await page.evaluate(() => document.getElementById('policy-panel')?.setAttribute('open', ''));
  await page.setInputFiles('#policy-file', file);
  await page.waitForSelector('#policy-source >> text=too many for a witness policy');
  expect(complaints).toEqual([]);
  await context.close();
});

test('the page out of the bundle is this page', () => {
  const text = Buffer.from(bytes).toString('latin1');
  const start = text.indexOf('evidence.html<!doctype html>');
  expect(start).toBeGreaterThan(0);
  expect(text.slice(start)).toContain('<title>Verify an evidence bundle');
});

test('of a bundle whose heads end before its period, it says what no head counts', async () => {
  const issuer = await makeIssuer();
  const early = join(folder, 'early.zip');
  writeFileSync(early, await bundleOfEarlyHeads(issuer));
  const { page } = await openAt(browser, url);
  await page.clock.setFixedTime(AT + 86_400_000);
  await verify(page, early);
  const complete = await page.innerText('#result [data-slot=complete]');
  expect(complete).toContain(
    'No head counts what was issued from 2027-02-03T00:00:00Z until 2027-03-01T00:00:00Z.',
  );
});
