import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launch, openAt } from '../packages/web/test/browser.ts';
import { enclosedFile } from '../packages/web/test/enclosed.ts';
import { memory } from './processes.ts';

const WAIT_MS = 1_800_000;

/** Results in the page: seconds, MB (10^6 bytes) and milliseconds. */
export interface InPage {
  readonly seconds: number;
  readonly receipts: number;
  /** Largest size of the JavaScript heap. */
  readonly heap: number;
  /** Memory of the tab's process: before the bundle was opened, and at most. */
  readonly before: number;
  readonly most: number;
  /** Longest time between two frames. */
  readonly longestFrame: number;
}

declare global {
  var longestFrame: number;
}

/** Verifies a bundle in the page that the bundle contains, opened from disk in Chromium without a network. */
export async function verifyInPage(bundle: string, folder: string): Promise<InPage> {
  const html = join(folder, 'evidence.html');
  writeFileSync(html, enclosedFile(bundle, 'evidence.html'));
  const browser = await launch();
  try {
    const { page } = await openAt(browser, pathToFileURL(html).href, { offline: true });
    return await verify(page, bundle, await tabOf(browser));
  } finally {
    await browser.close();
  }
}

async function verify(page: Page, bundle: string, tab: { readonly pid: number }): Promise<InPage> {
  await page.evaluate(watchFrames);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const before = memory(tab, 'VmRSS');
  let [heap, most] = [0, before];
  const observe = async (): Promise<void> => {
    most = Math.max(most, memory(tab, 'VmRSS'));
    const { metrics } = await devtools.send('Performance.getMetrics');
    heap = Math.max(heap, (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6);
  };
  const looking = setInterval(() => void observe().catch(() => {}), 200);
  try {
    const began = performance.now();
    await page.setInputFiles('#bundle-file', bundle);
    await page.waitForSelector('#result .verdict', { timeout: WAIT_MS });
    const seconds = (performance.now() - began) / 1000;
    const shown = await page.innerText('#result');
    if ((await page.getAttribute('#result .verdict', 'data-state')) !== 'unsure') throw new Error(shown);
    const receipts = Number(/^Receipts\s+([\d,]+)/m.exec(shown)?.[1]?.replaceAll(',', ''));
    return { seconds, receipts, heap, before, most, longestFrame: await page.evaluate(() => longestFrame) };
  } finally {
    clearInterval(looking);
  }
}

/** The process of the only tab. */
async function tabOf(browser: Browser): Promise<{ pid: number }> {
  const { processInfo } = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  const tabs = processInfo.filter(({ type }) => type === 'renderer');
  const [tab] = tabs.toSorted((a, b) => memory({ pid: b.id }, 'VmRSS') - memory({ pid: a.id }, 'VmRSS'));
  if (tab === undefined) throw new Error('Chromium has no tab.');
  return { pid: tab.id };
}

/** Records the time between frames. Runs in the page. */
function watchFrames(): void {
  globalThis.longestFrame = 0;
  let last = performance.now();
  const frame = (): void => {
    const now = performance.now();
    globalThis.longestFrame = Math.max(globalThis.longestFrame, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
