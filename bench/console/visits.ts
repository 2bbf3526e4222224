import type { Browser, Page } from 'playwright-core';
import { axeFindings } from '../../packages/web/test/axe-findings.ts';
import { openAt } from '../../packages/web/test/browser.ts';
import type { Filled } from './filled.ts';

/** Height of a picture: of a longer page only the window is shown. */
const MOST_PIXELS = 5_000;

/** A page to look at: its address, who is signed in, and what is there once its content is. */
interface Visit {
  readonly name: string;
  readonly path: string;
  readonly key?: string;
  readonly until: string;
  /** Selector of what a library draws, which axe passes over. */
  readonly foreign?: string;
}

/** What was measured of a page that was loaded in a browser with an empty cache. */
interface Measured {
  /** Sum of the layout shifts that nobody asked for, one second after the content was there. */
  readonly shift: number;
  /** Milliseconds until the content was there and no task longer than 50 ms ran any more. */
  readonly interactive: number;
  /** Number of rules up to WCAG 2.2 AA of which axe finds that the page breaks them. */
  readonly findings: number;
  /** Number of requests to other places than the service. */
  readonly external: number;
}

/** All pages of a filled service. */
export function visitsOf({ keys: { account, tenant, operator }, call, session }: Filled): readonly Visit[] {
  const key = account;
  return [
    { name: 'landing', path: '/', until: '#prices-models > *' },
    { name: 'verify', path: '/verify', until: '#trust-state > *' },
    { name: 'evidence', path: '/evidence', until: '#bundle-file' },
    { name: 'benchmark', path: '/benchmark', until: 'main h1' },
    { name: 'reference', path: '/docs', until: '.section', foreign: '.scalar-app' },
    { name: 'errors', path: '/docs/errors', until: 'main h1, h1' },
    { name: 'activity', path: '/activity', key, until: '.list tbody tr' },
    { name: 'call', path: `/activity/${call}`, key, until: '.verdict[data-state]' },
    { name: 'sessions', path: '/sessions', key, until: '.list tbody tr' },
    { name: 'session', path: `/sessions/${session}`, key, until: '.steps li' },
    { name: 'receipts', path: '/receipts', key, until: '.list tbody tr' },
    { name: 'receipt', path: `/receipts#${call}`, until: '.judgement .verdict' },
    { name: 'build-evidence', path: '/evidence/build', key: tenant, until: '.build' },
    { name: 'log', path: '/log', until: '.head .findings li' },
    { name: 'postings', path: '/log?list=postings', until: '.list tbody tr' },
    { name: 'keys', path: '/keys', key, until: '.list tbody tr' },
    { name: 'balance', path: '/balance', key, until: '.list tbody tr' },
    { name: 'usage', path: '/balance?view=usage', key, until: '.list tbody tr' },
    { name: 'webhooks', path: '/webhooks', key, until: '.list tbody tr, .empty' },
    { name: 'members', path: '/members', key, until: '.list tbody tr' },
    { name: 'status', path: '/status', until: '.numbers dd' },
    { name: 'operator', path: '/operator', key: operator, until: 'table[aria-label="Providers"]' },
    { name: 'signed-out', path: '/activity', until: '.empty' },
    { name: 'not-found', path: '/nowhere', until: '.empty' },
  ];
}

/** Loads a page, measures it, and saves a picture of the whole of it. */
export async function look(
  browser: Browser,
  { url }: Filled,
  visit: Visit,
  {
    width,
    scheme,
    picture,
  }: { readonly width: number; readonly scheme: 'light' | 'dark'; readonly picture: string },
): Promise<Measured> {
  const viewport = { width, height: width < 500 ? 844 : 900 };
  const { page, context, requests } = await openAt(browser, 'about:blank', { viewport, colorScheme: scheme });
  const complain = (what: string): void =>
    void process.stderr.write(`${visit.name} at ${width} px, ${scheme}: ${what}\n`);
  try {
    await page.addInitScript(watch, visit.until);
    if (visit.key !== undefined)
      await page.addInitScript((key) => sessionStorage.setItem('tallystick-session', key), visit.key);
    await page.goto(url + visit.path);
    const measured = await settled(page);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.screenshot({ path: picture, fullPage: height <= MOST_PIXELS });
    const found = await axeFindings(page, { exclude: visit.foreign === undefined ? [] : [visit.foreign] });
    for (const [rule, html] of found) complain(`axe finds ${rule}: ${html.join(' ')}`);
    const own = [`${url}/`, 'about:blank', 'data:', 'blob:'];
    const external = requests.filter((address) => !own.some((start) => address.startsWith(start)));
    for (const address of external) complain(`it asks for ${address}`);
    return { ...measured, findings: found.length, external: external.length };
  } catch (error) {
    await page.screenshot({ path: picture, fullPage: true });
    complain(String(error).split('\n')[0] ?? '');
    return { shift: Number.NaN, interactive: Number.NaN, findings: Number.NaN, external: Number.NaN };
  } finally {
    await context.close();
  }
}

declare global {
  var seen: Seen;
}

interface Seen {
  shift: number;
  ready: number;
  busy: number;
}

/** Notes what moves, when the content is there, and until when the page is busy. Runs in the page. */
function watch(until: string): void {
  globalThis.seen = { shift: 0, ready: 0, busy: 0 };
  const observe = (type: string, note: (entry: PerformanceEntry) => void): void =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  observe('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
    if (!hadRecentInput) seen.shift += value;
  });
  observe('longtask', ({ startTime, duration }) => {
    seen.busy = Math.max(seen.busy, startTime + duration);
  });
  const lookAgain = (): void => {
    if (document.querySelector(until) === null) requestAnimationFrame(lookAgain);
    else seen.ready = performance.now();
  };
  requestAnimationFrame(lookAgain);
}

/** Waits until the content has been there for a second. */
async function settled(page: Page): Promise<Pick<Measured, 'shift' | 'interactive'>> {
  await page.waitForFunction(() => seen.ready > 0 && performance.now() - seen.ready > 1_000, undefined, {
    timeout: 20_000,
  });
  const { shift, ready, busy } = await page.evaluate(() => seen);
  return { shift, interactive: Math.max(ready, busy) };
}
