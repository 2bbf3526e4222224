import sparticuz from '@sparticuz/chromium';
import type { Check } from '@tallystick/core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

/** Launches a browser with its own rules in force: the flags of the packaged one would disable some of them. @param features added */
export function launch(...features: readonly string[]): Promise<Browser> {
  return launchIn({}, features);
}

/** As `launch`, with variables in its environment. */
export async function launchIn(
  env: Readonly<Record<string, string>>,
  features: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', `--enable-features=${features.join(',')}`],
    headless: true,
    env: { ...process.env, ...env },
  });
}

/** A page in a context of its own, and a record of everything that should not happen in it. */
export interface Opened {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Addresses that were requested, the page's own included. */
  readonly requests: string[];
  /** Errors and warnings of the console, and errors that were thrown. */
  readonly complaints: string[];
}

/** Opens the verifier. @param html answered at the address, without a network; by default the page that is there */
export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  html?: string,
): Promise<Opened> {
  const opened = await openAt(browser, url, options, html);
  // The trust panel is filled last.
  await opened.page.waitForSelector('#trust-state > *');
  return opened;
}

/** As `open`, for any page, and without waiting for what its script does. Nothing moves, so that what is looked at stands. */
export async function openAt(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  html?: string,
): Promise<Opened> {
  const still = { acceptDownloads: true, locale: 'en-GB', reducedMotion: 'reduce' } as const;
  const context = await browser.newContext({ ...still, ...options });
  if (html !== undefined) {
    await context.route(url, (route) => route.fulfill({ body: html, contentType: 'text/html' }));
  }
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(url);
  return { context, page, requests, complaints };
}

/** Resolves once what the console has just drawn hears its keys: they are bound after the frame that draws it. */
export async function keysHeard(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}

/** The page's verdict on a receipt, read from what is shown. */
export interface Shown {
  readonly title: string;
  readonly valid: boolean;
  readonly integrity: boolean;
  readonly trusted: boolean;
  readonly checks: readonly Pick<Check, 'name' | 'ok'>[];
}

/** Types in the receipt's text and presses the button. */
export async function verifyText(page: Page, text: string): Promise<void> {
  await page.fill('#receipt', text);
  await page.click('#verify');
  await page.waitForSelector('#result h2');
}

/** Remembers a bundle through the form. */
export async function addBundle(page: Page, bundle: string): Promise<void> {
  await page.evaluate(() => document.getElementById('trust-panel')?.setAttribute('open', ''));
  await page.fill('#trust', bundle);
  await page.click('#trust-add');
}

/** Reads the verdict; runs in the page. */
export function readShown(): Shown | { code: string; title: string } {
  const text = (selector: string): string => document.querySelector(selector)?.textContent ?? '';
  const state = (selector: string): string | undefined =>
    document.querySelector<HTMLElement>(`#result ${selector}`)?.dataset['state'];
  const title = text('#result h2');
  const code = text('#result [data-slot=code]');
  if (code !== '') return { code, title };
  const answers: Record<string, boolean | null> = { pass: true, fail: false, unknown: null };
  return {
    title,
    valid: state('.verdict') !== 'fail',
    integrity: state('[data-slot=integrity] span') === 'pass',
    trusted: state('[data-slot=trust] span') === 'pass',
    checks: [...document.querySelectorAll<HTMLElement>('#result .every li')].map((row) => ({
      name: row.querySelector('.name')?.textContent ?? '',
      ok: answers[row.dataset['state'] ?? ''] ?? null,
    })),
  };
}
