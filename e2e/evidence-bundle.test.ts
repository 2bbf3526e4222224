import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launch, openAt } from '../packages/web/test/browser.ts';
import { enclosedFile } from '../packages/web/test/enclosed.ts';
import { post, serve, tally, temporaryFolder } from './process.ts';

/** Two parts of the room. The same path at 100,000 receipts: `npm run bench -- evidence`. */
const RECEIPTS = 600;
const BATCH = 50;

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const bundle = at('bundle.zip');
let browser: Browser;
let bytes: Buffer;

beforeAll(async () => {
  browser = await launch();
  const env = { TALLY_DATA_DIR: at('data'), TALLY_ANCHOR_PERIOD_SECONDS: '1' };
  const service = await serve(env);
  const tenant = (await tally(['tenant', 'create'], env)).stdout.trim();
  const key = (await tally(['tenant', 'key', tenant], env)).stdout.trim();
  const headers = { authorization: `Bearer ${key}` };
  const room = `${service.url}/tenants/${tenant}`;
  for (let done = 0; done < RECEIPTS; done += BATCH) {
    await Promise.all(
      Array.from({ length: BATCH }, (_, i) => post(`${room}/receipts`, { input: `${done + i}` }, headers)),
    );
  }
  await vi.waitUntil(async () => (await anchoredSize(service.url)) >= RECEIPTS, {
    timeout: 60_000,
    interval: 100,
  });
  bytes = Buffer.from(await (await fetch(`${room}/evidence`, { headers })).arrayBuffer());
  writeFileSync(bundle, bytes);
  writeFileSync(at('evidence.html'), enclosedFile(bundle, 'evidence.html'));
  writeFileSync(at('resumed.zip'), await resumed(room, headers));
  await service.kill('SIGTERM');
});
afterAll(() => browser.close());

/** The bytes of an export whose download breaks off at its beginning, and goes on when the service has made it to its end. */
async function resumed(room: string, headers: Readonly<Record<string, string>>): Promise<Buffer> {
  const hangUp = new AbortController();
  const begun = await fetch(`${room}/evidence`, { headers, signal: hangUp.signal });
  const first = (await begun.body?.getReader().read())?.value ?? new Uint8Array();
  hangUp.abort();
  const isMade = async (): Promise<boolean> => {
    const list = await (await fetch(`${room}/evidence/exports`, { headers })).json();
    return (list as { exports: unknown[] }).exports.length === 2;
  };
  await vi.waitUntil(isMade, { timeout: 60_000, interval: 100 });
  const range = { range: `bytes=${first.length}-`, 'if-range': begun.headers.get('etag') ?? '' };
  const rest = await fetch(`${room}/evidence`, { headers: { ...headers, ...range } });
  expect(rest.status).toBe(206);
  return Buffer.concat([first, new Uint8Array(await rest.arrayBuffer())]);
}

async function anchoredSize(url: string): Promise<number> {
  return ((await (await fetch(`${url}/v1/log`)).json()) as { anchored_size: number }).anchored_size;
}

/** What the command line says of a file. */
async function said(file: string): Promise<{ code: number | null; json: Record<string, unknown> }> {
  const { code, stdout } = await tally(['evidence', 'verify', file, '--json'], { TALLY_HOME: at('home') });
  return { code, json: JSON.parse(stdout) };
}

/** The verdict of the page on a file. */
async function shown(page: Page, file: string): Promise<string> {
  await page.setInputFiles('#bundle-file', file);
  await page.waitForSelector('#working', { state: 'hidden' });
  return page.innerText('#result .verdict');
}

const openPage = () => openAt(browser, pathToFileURL(at('evidence.html')).href, { offline: true });

test('a bundle of anchored receipts verifies with its service gone, in the command line and in the page in it', async () => {
  const { code, json } = await said(bundle);
  expect(code).toBe(3);
  expect(json).toMatchObject({ intact: true, receipts: RECEIPTS, anchored: RECEIPTS, untrusted: 0 });
  const { page, context, requests, complaints } = await openPage();
  const text = await shown(page, bundle);
  expect(text).toContain(json['root']);
  expect(text).toContain(json['manifest_sha256']);
  expect(text).toMatch(/Receipts\s+600\s/);
  expect(text).toMatch(/Anchored\s+600 under a root/);
  expect([requests.length, complaints]).toEqual([1, []]);
  // Nothing is verified again for a root that is given afterwards: the bundle may be gone by then.
  const copy = at('copy.zip');
  writeFileSync(copy, bytes);
  await shown(page, copy);
  rmSync(copy);
  await page.fill('#root', String(json['root']));
  await page.locator('#root').blur();
  await page.waitForSelector('#result .verdict[data-state=pass]');
  await context.close();
});

test('a bundle whose download broke off and went on verifies too', async () => {
  const { json } = await said(at('resumed.zip'));
  // The receipt of the export before is in the room.
  expect(json).toMatchObject({ intact: true, receipts: RECEIPTS + 1 });
});

test('the page says how far it is, and a bundle that is given meanwhile takes over', async () => {
  const { page, context } = await openPage();
  await page.evaluate(() => {
    const shows: string[] = [];
    Object.assign(globalThis, { shows });
    const progress = document.getElementById('done') as HTMLElement;
    new MutationObserver(() => shows.push(progress.innerText)).observe(progress, { childList: true });
  });
  const cut = at('cut.zip');
  writeFileSync(cut, bytes.subarray(0, -1));
  await page.setInputFiles('#bundle-file', bundle);
  await page.waitForFunction(() => (globalThis as unknown as { shows: string[] }).shows.length > 2);
  expect(await shown(page, cut)).toContain('zip_end');
  const shows = await page.evaluate(() => (globalThis as unknown as { shows: string[] }).shows);
  expect(shows[0]).toBe('0 %, 0 receipts verified');
  expect(shows.at(-1)).toMatch(/^\d+ %, \d+ receipts verified$/);
  await context.close();
});

test('one receipt changed, and its checksum with it, is refused in both by the name of its file', async () => {
  const changed = Buffer.from(bytes);
  const path = 'receipts/000002.ndjson';
  const file = enclosedFile(bundle, path);
  const start = changed.indexOf(file);
  file.write('"ok":null', file.indexOf('"ok":true'));
  file.copy(changed, start);
  const before = Buffer.from(changed.subarray(start - path.length - 16).subarray(0, 4));
  for (let here = changed.indexOf(before); here >= 0; here = changed.indexOf(before)) {
    changed.writeUInt32LE(crc32(file), here);
  }
  writeFileSync(at('changed.zip'), changed);
  const { code, json } = await said(at('changed.zip'));
  expect([code, json['reason'], json['path']]).toEqual([1, 'file_changed', path]);
  const { page, context } = await openPage();
  const text = await shown(page, at('changed.zip'));
  expect(text).toContain('file_changed');
  expect(text).toContain(path);
  await context.close();
});
