import {
  followStatus,
  type JsonObject,
  parseJson,
  readStatus,
  type StatusReport,
  statusDigest,
  type TrustBundle,
  trustOf,
  utf8,
  verify,
} from '@tallystick/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { collect } from '../../store/test/test-database.ts';
import { createApp } from '../src/app/app.ts';
import { openServices } from '../src/app/services.ts';
import type { Asked } from '../src/http/asked.ts';
import { ENDPOINTS } from '../src/status/endpoints.ts';
import type { ProbedApp } from '../src/status/probe.ts';
import { expectSchema } from './schemas.ts';
import { apiKey, DATABASES, startTestService, type TestService, type TestServiceOptions } from './service.ts';

const MINUTE = 60_000;
const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';

let service: TestService;
afterEach(() => service.close());

async function start(options: TestServiceOptions = {}): Promise<void> {
  service = await startTestService(options);
}

async function newest(): Promise<JsonObject & StatusReport> {
  const { status, text } = await service.get('/status');
  expect(status).toBe(200);
  return readStatus(parseJson(utf8(text)) as JsonObject);
}

/** The document of the next minute. */
async function next(): Promise<JsonObject & StatusReport> {
  service.clock.advance(MINUTE);
  await service.services.status.round();
  return newest();
}

/** Probes go through `change` from now on. */
function behind(change: (request: Asked, door: ProbedApp) => ReturnType<ProbedApp>): void {
  const { app } = service;
  const door: ProbedApp = (request) => app.fetch(request as Request, { probe: true });
  service.services.status.serveThrough((request) => change(request, door));
}

const entry = ({ endpoints }: StatusReport, name: string) => endpoints.find((one) => one.name === name);

describe('the status document', () => {
  it('is signed with the status key of an issuer that the bundle vouches for', async () => {
    await start();
    const { text, headers } = await service.get('/status');
    expect(headers.get('content-type')).toBe('application/json');
    const document = parseJson(utf8(text)) as JsonObject;
    expectSchema('status', document);
    const bundle = (await service.get('/.well-known/trust.json')).json as unknown as TrustBundle;
    const trust = trustOf(bundle.issuers, [bundle]);
    const verdict = await verify(document, { now: service.clock(), trust });
    expect(verdict).toMatchObject({ valid: true, family: 'status', issuer: { trusted: true } });
    expect((await verify({ ...document, sequence: 9 }, { now: service.clock(), trust })).valid).toBe(false);
  });

  it('tells of the seventeen endpoints, all of them well in a service that is', async () => {
    await start();
    const report = await newest();
    expect(report.endpoints.map(({ name }) => name)).toEqual(ENDPOINTS.map(({ name }) => name));
    expect(report.endpoints).toHaveLength(17);
    expect(report.endpoints.map(({ name, state, code }) => `${name} ${state} ${code}`)).toEqual(
      report.endpoints.map(({ name }) => `${name} up ok`),
    );
    for (const { samples, latency_ms } of report.endpoints) {
      expect([samples, latency_ms]).toEqual([1, expect.any(Number)]);
    }
  });

  it('names only endpoints that the reference has, with the same label', async () => {
    await start();
    const { paths } = (await service.get('/openapi.json')).json as {
      paths: Record<string, Record<string, { 'x-availability': string }>>;
    };
    for (const { method, path, availability, name } of (await newest()).endpoints) {
      const documented = path.replace('{did}.json', '{file}');
      expect([name, paths[documented]?.[method.toLowerCase()]?.['x-availability']]).toEqual([
        name,
        availability,
      ]);
    }
  });

  it('is numbered and chained, also over a restart', async () => {
    await start();
    const first = await newest();
    const second = await next();
    await service.restart();
    expect(await newest()).toEqual(second);
    const third = await next();
    expect([first, second, third].map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect([first, second, third].map(({ previous_sha256 }) => previous_sha256)).toEqual([
      null,
      statusDigest(first),
      statusDigest(second),
    ]);
    expect(entry(third, 'pricing')?.since).toBe(entry(first, 'pricing')?.since);
    expect(entry(third, 'pricing')?.checked_at).not.toBe(entry(first, 'pricing')?.checked_at);
  });

  it('holds for three minutes', async () => {
    await start();
    const document = await newest();
    const standing = () => followStatus(document, null, service.clock()).standing;
    service.clock.advance(3 * MINUTE - 1);
    expect(standing()).toBe('current');
    service.clock.advance(1);
    expect(standing()).toBe('stale');
  });

  it('is a page for whoever asks for one', async () => {
    await start();
    const { headers, text } = await service.get('/status', {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    });
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('vary')).toBe('Accept');
    expect(text).toContain('<div id="app">');
    const again = { accept: 'text/html', 'if-none-match': headers.get('etag') ?? '' };
    expect((await service.get('/status', again)).status).toBe(304);
    const programs: Record<string, string>[] = [{}, { accept: '*/*' }, { accept: 'application/json' }];
    for (const program of programs) {
      const answer = await service.get('/status', program);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('vary')).toBe('Accept');
      expect(answer.json).toMatchObject({ type: 'svc-status-v1' });
    }
  });
});

describe.each(DATABASES)('a round on %s', (database) => {
  it('is made once a minute, by whichever of two processes is first', async () => {
    await start({ database });
    const other = await openServices(service.config, service.clock);
    try {
      createApp(other);
      const both = [service.services.status, other.status];
      for (const sequence of [1, 2, 3]) {
        await Promise.all(both.map((status) => status.round()));
        for (const status of both) await status.round();
        expect((await newest()).sequence).toBe(sequence);
        expect(await other.status.newest()).toBe((await service.get('/status')).text);
        service.clock.advance(MINUTE);
        both.reverse();
      }
    } finally {
      await other.close();
    }
  });
});

describe('the timer', () => {
  it('makes a round soon after each minute, until the service closes', async () => {
    await start();
    const { status, store } = service.services;
    const sequence = async () => (await store.getDocument('status'))?.version ?? 0;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      status.start();
      for (const made of [1, 2]) {
        service.clock.advance(MINUTE);
        await vi.advanceTimersByTimeAsync(MINUTE + 5_000);
        while ((await sequence()) < made) await new Promise(setImmediate);
        // The next minute is scheduled once the round is over, which the disk decides.
        while (vi.getTimerCount() === 0) await new Promise(setImmediate);
      }
      await status.close();
      service.clock.advance(MINUTE);
      await vi.advanceTimersByTimeAsync(3 * MINUTE);
      expect(await sequence()).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('probing', () => {
  it('leaves no trace: no receipt, no member, no leaf, no quota used, no request counted', async () => {
    await start({ env: { TALLY_FREE_MINT_PER_DAY: '2', TALLY_FREE_READ_PER_DAY: '2' } });
    const puts = service.processes.map(({ store: own }) => vi.spyOn(own, 'putReceipt'));
    const stored = (): number => puts.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    for (let round = 0; round < 4; round++) await next();
    expect(stored()).toBe(0);
    const { store } = service.services;
    expect(await store.ledger.leaderboard(10)).toEqual([]);
    expect(await store.log.countLeaves()).toBe(0);
    expect(await collect(store.listIssuers())).toEqual([]);
    const metrics = (await service.get('/metrics')).text;
    expect(metrics).not.toMatch(/http_requests_total\{route="\/v1\/receipt\/free"/);
    for (let mint = 0; mint < 2; mint++) {
      expect((await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' })).status).toBe(200);
      expect((await service.get('/v1/compute/models')).status).toBe(200);
    }
    expect(stored()).toBe(2);
  });

  it('can’t be claimed from outside', async () => {
    await start({ env: { TALLY_FREE_MINT_PER_DAY: '1' } });
    const url = await service.listen();
    const mint = (query = '') =>
      fetch(`${url}/v1/receipt/free${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', probe: 'true', 'x-probe': 'true' },
        body: JSON.stringify({ input: 'x', purpose: 'status probe' }),
      });
    expect((await mint('?probe=true')).status).toBe(422);
    const receipt = (await (await mint()).json()) as { receipt_id: string };
    expect((await service.get(`/v1/receipt/${receipt.receipt_id}`)).status).toBe(200);
    expect((await mint()).status).toBe(429);
  });

  it('finds a key that can’t sign, and verifying that still works', async () => {
    await start();
    const before = await newest();
    const { issuer } = service.services;
    const status = issuer.signer('status');
    vi.spyOn(issuer, 'signer').mockImplementation((purpose) => {
      if (purpose === 'status') return status;
      throw new Error('The token was pulled out.');
    });
    const report = await next();
    expect(report.endpoints.filter(({ state }) => state === 'down').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['receipt_free', 'receipt_emit']),
    );
    expect(entry(report, 'receipt_free')).toMatchObject({ state: 'down', code: 'internal' });
    expect(entry(report, 'receipt_verify')?.state).toBe('up');
    expect(entry(report, 'receipt_free')?.since).not.toBe(entry(before, 'receipt_free')?.since);
  });

  it.each([...ENDPOINTS])('finds that $name is broken, and only that', async ({ name, method, path }) => {
    await start();
    behind((request, door) => {
      const at = new URL(request.url).pathname
        .replace(/issuers\/.*$/, 'issuers/{did}.json')
        .replace(/^\/tenants\/[^/]+/, '/tenants/{id}');
      if (request.method !== method || at !== path) return door(request);
      return Response.json({ json: 'of another kind' });
    });
    const broken = (await newest()).endpoints.filter(({ state }) => state !== 'up');
    expect(broken.map((one) => `${one.name} ${one.state} ${one.code}`)).toEqual([
      `${name} down wrong_answer`,
    ]);
  });

  it('shows no document of before while none can be stored', async () => {
    await start();
    const { sequence } = await newest();
    const fault = new Error('database or disk is full');
    const full = service.processes.map(({ store }) => vi.spyOn(store, 'consume').mockRejectedValue(fault));
    service.clock.advance(MINUTE);
    for (const { status } of service.processes) await expect(status.round()).rejects.toThrow('full');
    expect(await service.get('/status')).toMatchObject({ status: 503, json: { code: 'unavailable' } });
    for (const spy of full) spy.mockRestore();
    expect((await newest()).sequence).toBe(sequence + 1);
  });

  it('waits for nobody for ever, and goes on', async () => {
    await start();
    behind((request, door) =>
      new URL(request.url).pathname === '/pricing' ? new Promise<Response>(() => {}) : door(request),
    );
    const report = await newest();
    expect(entry(report, 'pricing')).toMatchObject({ state: 'down', code: 'timeout', latency_ms: null });
    expect(entry(report, 'mcp')?.state).toBe('up');
  });

  it('ends at once when the service closes', async () => {
    await start();
    const reached = Promise.withResolvers<void>();
    behind(() => {
      reached.resolve();
      return new Promise<Response>(() => {});
    });
    const { status } = service.services;
    const round = status.round();
    await reached.promise;
    // A probe that is not called off is waited for.
    let isWaitedFor = false;
    const patience = setTimeout(() => {
      isWaitedFor = true;
    }, 2_500);
    await Promise.all([status.close(), round]);
    clearTimeout(patience);
    expect(isWaitedFor).toBe(false);
    expect(await service.services.store.getDocument('status')).toBeNull();
  });
});

describe('the log in the status', () => {
  it('tells the newest checkpoint, and how long the oldest hash waits', async () => {
    await start({ env: { TALLY_ANCHOR_PERIOD_SECONDS: '3600' } });
    const empty = await newest();
    expect(empty.log).toMatchObject({ accepted: 0, anchored: 0, oldest_unanchored_seconds: null });
    service.clock.advance(20_000);
    const key = await apiKey(service, 'scale');
    expect((await service.post('/v1/anchor', { canonical_sha256: HASH }, key)).status).toBe(200);
    const { log } = await next();
    expect([log.accepted, log.anchored]).toEqual([1, 0]);
    // Accepted 60 s before this look; the look without it was 80 s before.
    expect(log.oldest_unanchored_seconds).toBe(80);
    expect((await next()).log.oldest_unanchored_seconds).toBe(140);
    const note = await vi.waitFor(async () => {
      const { status, text } = await service.get('/checkpoint');
      expect(status).toBe(200);
      const lines = text.split('\n');
      expect(lines[1]).toBe('1');
      return lines;
    }, 60_000);
    const { checkpoint } = (await next()).log;
    expect(checkpoint).toMatchObject({ origin: note[0] });
    expect(Buffer.from(checkpoint?.root ?? '', 'hex').toString('base64')).toBe(note[2]);
    expect(String(checkpoint?.size)).toBe(note[1]);
  });
});
