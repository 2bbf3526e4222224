import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtPage } from '../scripts/page.ts';
import type { NodeName, TierResult } from '../src/benchmark/documents.ts';
import {
  bundle,
  goodReplies,
  lossless,
  nodes,
  origin,
  type Replies,
  signed,
  signedForReceipts,
  startSite,
  summary,
} from './benchmark-site.ts';
import { addBundle, launch, open, openAt, verifyText } from './browser.ts';
import { cutOff, readPlots, type ShownMark, type ShownPlot } from './plots.ts';

let browser: Browser;
let good: Replies;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  browser = await launch();
  good = await goodReplies();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => browser.close());

/** The page over a site of its own that says these things. */
async function openBenchmark(changed: Partial<Replies> = {}, options: Parameters<typeof openAt>[2] = {}) {
  const replies = { ...good, ...changed };
  const site = await startSite(replies);
  closing.push(site.close);
  return { ...(await openReady(site.url, options)), site, replies };
}

async function openReady(url: string, options: Parameters<typeof openAt>[2] = {}) {
  const opened = await openAt(browser, `${url}/benchmark`, options);
  closing.push(() => opened.context.close());
  await settled(opened.page);
  return opened;
}

async function settled(page: Page): Promise<void> {
  await page.waitForSelector('#main[aria-busy="false"]');
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.canvas')].every(
      (canvas) => canvas.firstChild || !canvas.checkVisibility(),
    ),
  );
}

const stateOf = (page: Page) => page.getAttribute('#signature .verdict', 'data-state');
const rowsOf = (page: Page) => page.locator('.documents li').allInnerTexts();

async function plot(page: Page, title: RegExp): Promise<ShownPlot> {
  const found = (await page.evaluate(readPlots)).filter((one) => title.test(one.title));
  expect(found).toHaveLength(1);
  return found[0] ?? { title: '', marks: [] };
}

/** Of a whole plot, one pixel is less than this share of its axis. */
const PIXEL = 0.005;

function expectMark(
  mark: ShownMark | undefined,
  value: number,
  [low, high]: readonly [number, number],
  within = PIXEL,
): void {
  expect(Math.abs((mark?.value ?? Number.NaN) - value)).toBeLessThan(within);
  expect(Math.abs((mark?.low ?? Number.NaN) - low)).toBeLessThan(within);
  expect(Math.abs((mark?.high ?? Number.NaN) - high)).toBeLessThan(within);
}

const TITLES: Record<NodeName, string> = {
  semantic: 'Facts and answers',
  temporal: 'Turns and dates',
  modality: 'Kinds of text',
};
const WORDINGS: Record<string, string> = { plain: 'in the words of the text', paraphrased: 'paraphrased' };
const NODES = Object.keys(TITLES) as NodeName[];

describe.each([320, 1440])('at %i px, the plots carry the numbers of the documents:', (width) => {
  const viewport = { width, height: 900 };

  test.each(NODES)('what survives of %s, by tier and budget', async (node) => {
    const { page } = await openBenchmark({}, { viewport });
    const { marks } = await plot(page, new RegExp(`^${TITLES[node]}: `));
    const { tiers } = nodes[node];
    expect(marks).toHaveLength(tiers.length);
    for (const { tier, budget, kept, kept_ci95 } of tiers) {
      expectMark(
        marks.find(({ of, x }) => of === tier && x === budget),
        kept,
        kept_ci95,
      );
    }
  });

  test.each(NODES)('what survives of each kind of %s, at the budget that is chosen', async (node) => {
    const { page } = await openBenchmark({}, { viewport });
    for (const budget of [0.25, 0.5, 0.1]) {
      await page.locator(`#${node}-kinds label`, { hasText: `${budget * 100}%` }).click();
      await settled(page);
      const within = page.locator(`#${node}-kinds .drawing`);
      const title = (await within.getAttribute('aria-label')) ?? '';
      expect(title).toContain(`at ${budget * 100}% of the tokens`);
      const marks = (await page.evaluate(readPlots)).find((one) => one.title === title)?.marks ?? [];
      const { by, by_wording } = nodes[node];
      const named = by_wording.map((one) => ({ ...one, kind: WORDINGS[one.kind] ?? '' }));
      const results = [...by, ...named].filter((one) => one.budget === budget);
      expect(marks).toHaveLength(results.length);
      const order = [...new Set(results.map(({ tier }) => tier))];
      for (const { kind, tier, kept, kept_ci95 } of results) {
        const mark = marks.find((one) => one.of === kind && one.series === order.indexOf(tier));
        expectMark(mark, kept, kept_ci95);
      }
    }
  });

  test('the paired differences, better and worse', async () => {
    const { page } = await openBenchmark({}, { viewport });
    const { marks } = await plot(page, /^Extractive minus BM25$/);
    expect(marks).toHaveLength(9);
    for (const node of NODES) {
      for (const { budget, difference, ci95 } of nodes[node].paired) {
        const of = `at ${budget * 100}% of the tokens`;
        const mark = marks.find((one) => one.of === of && one.under === TITLES[node]);
        expectMark(mark, difference, ci95, 0.001);
      }
    }
  });

  test('what lossless saves, from the worst to the best', async () => {
    const { page } = await openBenchmark({}, { viewport });
    const { marks } = await plot(page, /^Tokens saved/);
    expect(marks.map(({ of }) => of)).toEqual(lossless.map(({ kind }) => kind));
    for (const { kind, saved_median, saved_worst, saved_best } of lossless) {
      expectMark(
        marks.find(({ of }) => of === kind),
        saved_median,
        [saved_worst, saved_best],
      );
    }
  });
});

describe('beside the plots', () => {
  test('tables say the same in figures', async () => {
    const { page } = await openBenchmark();
    const rows = await page
      .locator('#semantic-kept tbody tr')
      .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent)));
    const expected = nodes.semantic.tiers.map(
      ({ tier, budget, kept, kept_ci95, over_budget }: TierResult) => [
        { extractive: 'Extractive', bm25: 'BM25', tail: 'Last tokens' }[tier],
        `${budget * 100}%`,
        `${(kept * 100).toFixed(1)}%`,
        kept_ci95.map((share) => (share * 100).toFixed(1)).join(' to '),
        `${(budget * 100).toFixed(1)}%${over_budget > 0 ? ' (2 over)' : ''}`,
      ],
    );
    expect(rows).toEqual(expected);
    const third = page.locator('#paired tbody tr').nth(2).locator('td');
    expect(await third.allTextContents()).toEqual(['10%', '−4.1', '−6.3 to −1.7', '11', '5', '230']);
  });

  test('is how to make it again', async () => {
    const { page } = await openBenchmark();
    const text = await page.innerText('#origin');
    for (const said of [origin.command, origin.corpus.sha256, '62', '396', '812,345', 'o200k_base']) {
      expect(text).toContain(said);
    }
  });

  test('are the worst cases, as text and nothing else', async () => {
    const { page } = await openBenchmark();
    const first = await page.innerText('#semantic-cases li');
    expect(first).toContain('Which pill was swapped, and <img src=x onerror=alert(1)>?');
    expect(first).toMatch(/losartan fifty\s*U\+202E\s*from tonight/);
    expect(first).toContain('fact, letters-3, at 50% of the tokens. BM25 kept it.');
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('of material that others wrote, the worst rows come first, and only the first losses are open', async () => {
    const { page } = await openBenchmark();
    const part = page.locator('#material');
    const names = part.locator('.kinds').first().locator('tbody th');
    expect(await names.allTextContents()).toEqual(['all', 'YAML', 'INI', 'numbers']);
    const cells = part.locator('.kinds').first().locator('tbody tr').nth(1).locator('td');
    expect((await cells.allTextContents()).at(3)).toMatch(/^\+5\.0/);
    const lost = part.locator('.cases > li');
    expect(await lost.evaluateAll((all) => all.map((one) => one.checkVisibility()))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    await part.getByText('Show 2 more').click();
    expect(await lost.last().innerText()).toMatch(/five set to\?[^]*development\/yaml\/five, at 25%/);
  });

  test('the numbers of others are marked as theirs, and only an address of the web is a link', async () => {
    const { page } = await openBenchmark();
    expect(await page.locator('.peer .tag').allTextContents()).toEqual(['Their numbers', 'Their numbers']);
    expect(await page.locator('.peer q').allTextContents()).toEqual(
      summary.peers.flatMap(({ says }) => says),
    );
    const links = await page
      .locator('.peer a')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href')));
    expect(links).toEqual(['https://arxiv.org/abs/2403.12968']);
  });
});

describe('the signatures', () => {
  test('hold, and the page asks for nothing but the documents', async () => {
    const { page, requests, complaints, site } = await openBenchmark();
    expect(await stateOf(page)).toBe('pass');
    expect(await page.innerText('#signature')).toContain(
      'This page has just checked that all 4 documents are unchanged since did:svc:bench signed them. https://bench.test vouches for the key.',
    );
    const paths = ['/benchmark', '', '/semantic', '/temporal', '/modality'];
    expect(requests.filter((address) => !/^data:|\/assets\/[\w-]+\.woff2$/.test(address)).sort()).toEqual(
      paths
        .map((path, index) =>
          index === 0 ? `${site.url}${path}` : `${site.url}/v1/compute/benchmark${path}`,
        )
        .sort(),
    );
    expect(complaints).toEqual([]);
    expect(await page.textContent('#announcement')).toMatch(/^Signed, and unchanged\. /);
  });

  test('can’t be had from elsewhere: the policy forbids it', async () => {
    const { page } = await openBenchmark();
    const other = await startSite(good);
    closing.push(other.close);
    const refused = await page.evaluate(
      (url) =>
        fetch(url, { mode: 'no-cors' }).then(
          () => false,
          () => true,
        ),
      `${other.url}/benchmark`,
    );
    expect(refused).toBe(true);
  });

  test('of an issuer that nothing vouches for are said to be no more', async () => {
    const site = await startSite(good, { trusted: false });
    closing.push(site.close);
    const { page } = await openReady(site.url);
    expect(await stateOf(page)).toBe('unsure');
    expect(await page.innerText('#signature h2')).toBe('Unchanged, but not trusted');
    expect(await page.locator('.drawing').count()).toBe(9);
  });

  test('a summary that was changed is called out, and nothing of it is drawn', async () => {
    const body = good.benchmark?.body.replace('"kept":0.927', '"kept":0.997') ?? '';
    expect(body).not.toBe(good.benchmark?.body);
    const { page } = await openBenchmark({ benchmark: { body } });
    expect(await stateOf(page)).toBe('fail');
    expect(await page.innerText('#signature h2')).toBe('Some documents are not valid');
    expect((await rowsOf(page))[0]).toContain('The signature does not match');
    expect(await page.innerText('main')).not.toContain('99.7%');
    for (const id of ['origin', 'glance', 'semantic-kept', 'side-by-side', 'nothing-lost', 'others']) {
      expect(await page.isVisible(`#${id}`), id).toBe(false);
    }
    expect(await page.isVisible('#semantic-kinds .drawing')).toBe(true);
    expect(await page.textContent('#alert')).toMatch(/^Some documents are not valid\. 1 of 4/);
  });

  const changed = () => good.temporal?.body.replace('"newest"', '"newesT"') ?? '';
  test.each<[string, () => Promise<string> | string, RegExp]>([
    ['was changed', changed, /signature does not match/],
    ['is another node’s', () => good.semantic?.body ?? '', /document of another node: semantic/],
    ['is signed with a key for receipts', () => signedForReceipts('temporal', nodes.temporal), /for receipt/],
    [
      'contradicts the summary',
      () => signed('temporal', { ...nodes.temporal, tiers: nodes.semantic.tiers }),
      /the summary contradicts it/,
    ],
    [
      'is over another corpus',
      () => signed('temporal', { ...nodes.temporal, corpus: { ...origin.corpus, cases: 1 } }),
      /the summary contradicts it/,
    ],
    ['is not signed', () => JSON.stringify(nodes.temporal), /not a signed benchmark/],
    ['is no JSON', () => '{', /./],
  ])('a node that %s is called out, and nothing of it is drawn', async (_, bodyOf, why) => {
    const { page } = await openBenchmark({ temporal: { body: await bodyOf() } });
    expect(await stateOf(page)).toBe('fail');
    expect((await rowsOf(page))[2]).toMatch(why);
    expect(await page.innerText('#temporal-kinds')).toMatch(/^Not drawn\. /);
    expect(await page.innerText('#temporal-cases')).toMatch(/^Not drawn\. /);
    expect(await page.isVisible('#semantic-kinds .drawing')).toBe(true);
  });
});

test('the verifier page takes a document too', async () => {
  const { page, context } = await open(browser, builtPage('verify').href);
  closing.push(() => context.close());
  await addBundle(page, bundle);
  await page.waitForSelector('text=Version 1');
  await verifyText(page, good.semantic?.body ?? '');
  expect(await page.textContent('#result h2')).toBe('Valid, from an issuer you trust');
  expect(await page.textContent('#result')).toContain('run the command that it names and compare');
});

describe('what can’t be read', () => {
  const problem = '{"code":"rate_limited","detail":"Too many reads."}';
  test.each([
    ['missing', { status: 404, body: '{}' }, 'The service has no such document.'],
    [
      'refused',
      { status: 429, headers: { 'retry-after': '30' }, body: problem },
      'The service answered 429. Too many reads. Try again in 30 seconds.',
    ],
    ['broken', { status: 502, body: '<html>' }, 'The service answered 502.'],
    ['cut off', null, 'The service did not answer.'],
  ])('a node that is %s is said to be, and the rest is drawn', async (_, temporal, why) => {
    const { page } = await openBenchmark({ temporal });
    expect(await stateOf(page)).toBe('unknown');
    expect((await rowsOf(page))[2]).toContain(why);
    expect(await page.innerText('#temporal-kinds')).toContain(`Not drawn. ${why}`);
    expect(await page.isVisible('#temporal-kept .drawing')).toBe(true);
    expect(await page.isVisible('#modality-kinds .drawing')).toBe(true);
  });

  test('a later version is not guessed at', async () => {
    const body = await signed('semantic', { ...nodes.semantic, version: 2 });
    const { page } = await openBenchmark({ semantic: { body } });
    expect((await rowsOf(page))[1]).toContain('It is of version 2, which this page does not know.');
  });

  test('with the network down there is nothing to see, until it is read again', async () => {
    const down = { benchmark: null, semantic: null, temporal: null, modality: null };
    const { page, replies } = await openBenchmark(down);
    expect(await stateOf(page)).toBe('unknown');
    expect(
      await page
        .locator('main section.block')
        .evaluateAll((all) => all.every((one) => !one.checkVisibility())),
    ).toBe(true);
    Object.assign(replies, good);
    await page.click('text=Read again');
    await page.waitForSelector('.verdict[data-state=pass]');
    await settled(page);
    expect(await page.locator('.drawing').count()).toBe(9);
  });

  test('a signed document of another form leaves nothing half drawn', async () => {
    const body = await signed('benchmark', { ...summary, nodes: {} });
    const site = await startSite({ ...good, benchmark: { body } });
    closing.push(site.close);
    const { page } = await openReady(site.url);
    expect(await page.innerText('#signature')).toContain('nothing is shown');
    expect(await page.locator('.drawing').count()).toBe(0);
  });

  test('without scripts there are still the documents', async () => {
    const site = await startSite(good);
    closing.push(site.close);
    const { page, context } = await openAt(browser, `${site.url}/benchmark`, { javaScriptEnabled: false });
    closing.push(() => context.close());
    expect(await page.getAttribute('noscript a', 'href')).toBe('/v1/compute/benchmark');
    expect(await page.isVisible('.intro .note')).toBe(true);
  });
});

test.each([320, 768, 1440])('at %i px no letter of a plot is cut off', async (width) => {
  const { page } = await openBenchmark({}, { viewport: { width, height: 900 } });
  expect(await page.locator('.drawing text').evaluateAll(cutOff)).toEqual([]);
});

test('a plot is drawn anew where its place changes, and on paper the tables stay', async () => {
  const { page } = await openBenchmark({}, { viewport: { width: 1440, height: 900 } });
  const width = () => page.locator('#semantic-kept .drawing').evaluate((svg) => svg.getAttribute('width'));
  const wide = Number(await width());
  await page.setViewportSize({ width: 320, height: 900 });
  await page.waitForFunction(
    (before) => Number(document.querySelector('#semantic-kept .drawing')?.getAttribute('width')) < before / 2,
    wide,
  );
  await page.emulateMedia({ media: 'print' });
  expect(await page.isVisible('#semantic-kept table')).toBe(true);
  expect(await page.isVisible('#semantic-kept .drawing')).toBe(true);
  expect(await page.isVisible('.choice')).toBe(false);
});
