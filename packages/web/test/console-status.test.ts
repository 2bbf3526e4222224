import {
  createSigner,
  didKeyOf,
  type JsonObject,
  parseJson,
  readStatus,
  type Signer,
  type StatusReport,
  signStatus,
  statusDigest,
  utf8,
} from '@tallystick/core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService, testClock } from '../../server/test/service.ts';
import { CONSOLE_LOOKS, expectAccessible, lookOf } from './axe.ts';
import { launch, openAt } from './browser.ts';
import { measureShifts, shifted } from './shifts.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** Midnight before these tests began, in Unix milliseconds: another may pass while they run. */
const TODAY = Math.floor(Date.now() / DAY) * DAY;

let browser: Browser;
let service: TestService;
let url: string;
let own: Signer;
/** A report of the service itself, with every endpoint up. */
let report: StatusReport;
beforeAll(async () => {
  browser = await launch();
  // The keys are older than the documents that they sign.
  service = await startTestService({ clock: testClock(Date.now() - 10 * MINUTE) });
  service.clock.advance(10 * MINUTE);
  url = await service.listen();
  own = service.services.issuer.signer('status');
  const { text } = await service.get('/status');
  const { endpoints, ...rest } = readStatus(parseJson(utf8(text)) as JsonObject);
  report = {
    ...rest,
    endpoints: endpoints.map((one) => ({ ...one, state: 'up', code: 'ok' })),
  };
  await recordDays(70);
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

/** Three rounds of each day before today. On one day an endpoint was down, on another a provider was degraded. */
async function recordDays(days: number): Promise<void> {
  const { statusHistory } = service.services.store;
  const names = report.endpoints.map(({ name }) => ({ kind: 'endpoint' as const, id: name }));
  const subjects = [...names, { kind: 'provider' as const, id: 'local' }];
  for (let ago = days; ago > 0; ago--) {
    for (const round of [0, 1, 2]) {
      const found = subjects.map(({ kind, id }) => {
        if (id === 'mcp' && ago === 5 && round === 1)
          return { kind, id, state: 'down' as const, code: 'timeout' };
        if (id === 'local' && ago === 20 && round < 2)
          return { kind, id, state: 'degraded' as const, code: 'failing' };
        return { kind, id, state: 'up' as const, code: 'ok' };
      });
      await statusHistory.record(found, TODAY - ago * DAY + round * MINUTE);
    }
  }
}

interface Change {
  readonly content?: JsonObject;
  readonly ageMs?: number;
  readonly signer?: Signer;
  readonly did?: string;
}

/** A document as the service could have signed it. */
function made(
  sequence: number,
  { content = {}, ageMs = 0, signer = own, did }: Change = {},
): Promise<string> {
  const { version, service: at, endpoints, providers, models, log } = report;
  const issuedAt = Date.now() - ageMs;
  const issuance = {
    did: did ?? service.services.issuer.did,
    sequence,
    previousSha256: null,
    issuedAt,
    validUntil: issuedAt + 3 * MINUTE,
  };
  return signStatus(
    { version, service: at, endpoints, providers, models, log, ...content },
    issuance,
    signer,
  );
}

/** With one endpoint in another state. */
const withState = (state: string, code: string): JsonObject => ({
  endpoints: report.endpoints.map((one) => (one.name === 'mcp' ? { ...one, state, code } : one)),
});

/** The page, whose service says these one after the other, the last one again and again; null hangs up. */
async function openOn(answers: readonly (string | null)[], look: BrowserContextOptions = {}) {
  const opened = await openAt(browser, 'about:blank', look);
  const { context, page } = opened;
  let asked = 0;
  await context.route(`${url}/status`, (route) => {
    if (route.request().resourceType() === 'document') return route.continue();
    const body = answers[Math.min(asked, answers.length - 1)] ?? null;
    asked += 1;
    return body === null ? route.abort() : route.fulfill({ body, contentType: 'application/json' });
  });
  await page.goto(`${url}/status`);
  await settled(page);
  return opened;
}

async function settled(page: Page): Promise<void> {
  await page.waitForSelector('.status[aria-busy="false"] .banner h2');
}

const title = (page: Page): Promise<string | null> => page.textContent('.banner h2');
const tone = (page: Page): Promise<string | null> => page.getAttribute('.banner', 'data-state');

describe.each(CONSOLE_LOOKS)('at %i px, %s', (width, scheme) => {
  test('the service’s own status is verified and drawn, with nothing for axe and no other address', async () => {
    // After three minutes the one before is out of date.
    service.clock.advance(Date.now() - service.clock());
    await service.services.status.round();
    const { page, context, requests, complaints } = await openAt(
      browser,
      'about:blank',
      lookOf(width, scheme),
    );
    await measureShifts(page);
    await page.goto(`${url}/status`);
    await settled(page);
    await page.waitForSelector('svg.uptime rect');
    expect(await shifted(page)).toBeLessThan(0.05);
    const { text } = await service.get('/status');
    const { endpoints, providers, sequence } = readStatus(parseJson(utf8(text)) as JsonObject);
    expect(await page.locator('[aria-label="Endpoints"] li').count()).toBe(endpoints.length);
    expect(await page.locator('[aria-label="Providers"] li').count()).toBe(providers.length);
    expect(await page.textContent('section[aria-labelledby=models]')).toContain('local/extract-1');
    expect(await page.textContent('.banner')).toContain(`Signed by did:svc:local, number ${sequence},`);
    await expectAccessible(page, width);
    expect(
      requests.filter((at) => !['about:blank', 'data:', `${url}/`].some((ours) => at.startsWith(ours))),
    ).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('trouble too is accessible', async () => {
    for (const answers of [[await made(3, { content: withState('down', 'timeout') })], [null]]) {
      const { page, context } = await openOn(answers, lookOf(width, scheme));
      await expectAccessible(page, width);
      await context.close();
    }
  });
});

describe('what is shown', () => {
  const stranger = createSigner(new Uint8Array(32).fill(7));
  const rows: [string, () => Promise<string | null>, string, string][] = [
    ['all is well', () => made(5), 'pass', 'All 17 endpoints are up'],
    [
      'one is slow',
      () => made(5, { content: withState('degraded', 'slow') }),
      'warn',
      '1 of 17 endpoints is degraded',
    ],
    [
      'one is down',
      () => made(5, { content: withState('down', 'timeout') }),
      'fail',
      '1 of 17 endpoints is down',
    ],
    [
      'one is unknown',
      () => made(5, { content: withState('unknown', 'not_called') }),
      'unknown',
      '16 of 17 endpoints are up; nothing is known of the rest',
    ],
    ['it is over', () => made(5, { ageMs: 3 * MINUTE }), 'warn', 'Out of date'],
    [
      'nobody vouches for the key',
      async () => {
        const signer = await stranger;
        return made(5, { signer, did: didKeyOf(signer.publicKey) });
      },
      'warn',
      'Signed, but not trusted',
    ],
    [
      'another key claims to be the service',
      async () => made(5, { signer: await stranger }),
      'fail',
      'Not a valid status',
    ],
    [
      'the key is for benchmarks',
      () => made(5, { signer: service.services.issuer.signer('benchmark') }),
      'fail',
      'Not a valid status',
    ],
    [
      'a member was changed',
      async () => (await made(5)).replace('"up"', '"down"'),
      'fail',
      'Not a valid status',
    ],
    ['it is something else', async () => '{"status":"fine"}', 'fail', 'Not a valid status'],
    ['it has another form', () => made(5, { content: { version: 2 } }), 'fail', 'Not a valid status'],
    ['nobody answers', async () => null, 'unknown', 'No status could be read'],
  ];
  test.each(rows)('where %s', async (_, answer, state, heading) => {
    const { page, context } = await openOn([await answer()]);
    expect([await tone(page), await title(page)]).toEqual([state, heading]);
    const drawn = await page.locator('[aria-label="Endpoints"] li').count();
    expect(drawn > 0).toBe(!['Not a valid status', 'No status could be read'].includes(heading));
    await context.close();
  });
});

test('a provider that is down, a model that is gone and one that nobody called are told apart', async () => {
  const since = '2027-03-01T11:00:00Z';
  const answer = await made(5, {
    content: {
      providers: [{ id: 'openai', state: 'down', code: 'unreachable', since }],
      models: [
        { id: 'openai/gpt-4o', state: 'down', code: 'model_gone', since },
        { id: 'openai/gpt-4.1-nano', state: 'down', code: 'server', since },
        { id: 'openai/gpt-5', state: 'unknown', code: 'not_called', since },
      ],
    },
  });
  const { page, context } = await openOn([answer], { viewport: { width: 360, height: 740 } });
  const [providers, models] = await page.locator('section[aria-labelledby=models] ul').allInnerTexts();
  expect(providers).toContain('Down: unreachable');
  expect(models).toContain('Down: model withdrawn');
  expect(models).toContain('Down: server errors');
  // Also on a phone a state stands on one line.
  for (const state of await page.locator('section[aria-labelledby=models] .state').all())
    expect((await state.boundingBox())?.height).toBeLessThan(30);
  expect(models).not.toContain('gpt-5');
  expect(await page.textContent('details.idle')).toContain('openai/gpt-5');
  await context.close();
});

test('the days before, what was wrong on them, and the incidents', async () => {
  const { page, context } = await openAt(browser, `${url}/status`);
  await settled(page);
  await page.waitForSelector('svg.uptime rect');
  const bars = page.locator('[aria-label="Endpoints"] svg.uptime');
  expect(await bars.count()).toBe(17);
  expect(await bars.first().locator('rect').count()).toBe(90);
  const mcp = page.locator('[aria-label="mcp: trouble on 1 of 90 days"]');
  const day = new Date(TODAY - 5 * DAY).toISOString().slice(0, 10);
  expect(await mcp.locator('rect[data-state=fail] title').textContent()).toBe(
    `${day}: down in 1 of 3 checks`,
  );
  const share = await page
    .locator('[aria-label="Endpoints"] li', { has: mcp })
    .locator('.share')
    .textContent();
  expect(share).toMatch(/^99\.\d\d %$/);
  const incidents = await page.locator('[aria-label="Incidents"] li').allInnerTexts();
  expect(incidents.slice(-2).map((text) => text.replace(/\s+/g, ' '))).toEqual([
    expect.stringMatching(/^mcp endpoint Down: timeout .* · 60 s$/),
    expect.stringMatching(/^local provider Degraded: fails now and then .* · 2 min$/),
  ]);
  await context.close();
});

test('the history that can’t be read says so in its place, and the status stays', async () => {
  const { page, context } = await openAt(browser, 'about:blank');
  let refused = true;
  await context.route('**/v1/status/history*', (route) =>
    refused
      ? route.fulfill({ status: 503, json: { code: 'unavailable', title: 'Not now', detail: 'Come back.' } })
      : route.continue(),
  );
  await page.goto(`${url}/status`);
  await settled(page);
  await page.waitForSelector('.problem >> text=Come back.');
  expect(await page.locator('[aria-label="Endpoints"] li').count()).toBe(17);
  refused = false;
  await page.click('text=Try again');
  await page.waitForSelector('svg.uptime rect');
  await context.close();
});

test('a key that is signed in is not sent for what everybody may read', async () => {
  const { page, context } = await openAt(browser, 'about:blank');
  await page.goto(`${url}/status`);
  await settled(page);
  await page.evaluate(() => sessionStorage.setItem('tallystick-session', `k_op_${'a'.repeat(32)}`));
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (/\/status/.test(request.url())) keys.push(request.headers()['authorization']);
  });
  await page.reload();
  await settled(page);
  await page.waitForSelector('svg.uptime rect');
  expect(keys.length).toBeGreaterThan(2);
  expect(keys.filter((key) => key !== undefined)).toEqual([]);
  await context.close();
});

describe('what this browser has seen', () => {
  const again = async (page: Page): Promise<string | null> => {
    await page.reload();
    await settled(page);
    return title(page);
  };

  test('holds against an older status, also after a reload, until it is forgotten', async () => {
    const { page, context } = await openOn([await made(9), await made(8)]);
    expect(await title(page)).toBe('All 17 endpoints are up');
    expect(await again(page)).toBe('Older than what this browser has seen');
    expect(await again(page)).toBe('Older than what this browser has seen');
    await page.click('text=Forget the statuses seen');
    await page.waitForSelector('.banner[data-state=pass]');
    await context.close();
  });

  test('holds against another one of the same number', async () => {
    const { page, context } = await openOn([
      await made(9),
      await made(9, { content: withState('down', 'timeout') }),
    ]);
    expect(await again(page)).toBe('Two statuses that contradict each other');
    await context.close();
  });

  test('is not spoiled by a status that nobody vouches for', async () => {
    const signer = await createSigner(new Uint8Array(32).fill(7));
    const foreign = await made(1_000_000, { signer, did: didKeyOf(signer.publicKey) });
    const { page, context } = await openOn([foreign, await made(9)]);
    expect(await again(page)).toBe('All 17 endpoints are up');
    await context.close();
  });

  test('follows the chain of the service itself', async () => {
    const first = readStatus(parseJson(utf8((await service.get('/status')).text)) as JsonObject);
    const { page, context } = await openAt(browser, `${url}/status`);
    await settled(page);
    service.clock.advance(MINUTE);
    await service.services.status.round();
    const next = readStatus(parseJson(utf8((await service.get('/status')).text)) as JsonObject);
    expect(next.previous_sha256).toBe(statusDigest(first));
    expect(await again(page)).not.toMatch(/Older|contradict|Not a valid/);
    await context.close();
  });
});
