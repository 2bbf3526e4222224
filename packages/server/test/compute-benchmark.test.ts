import {
  BENCHMARK_NODES,
  type JsonObject,
  parseJson,
  type TrustBundle,
  trustOf,
  utf8,
  verify,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { results } from '../../inference/src/benchmark/results.ts';
import { expectSchema } from './schemas.ts';
import { startTestService, type TestService } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const pathOf = (node: string): string => `/v1/compute/benchmark${node === 'benchmark' ? '' : `/${node}`}`;

async function judged(document: JsonObject) {
  const bundle = (await service.get('/.well-known/trust.json')).json as unknown as TrustBundle;
  return verify(document, { now: service.clock(), trust: trustOf(bundle.issuers, [bundle]) });
}

describe.each(BENCHMARK_NODES)('the benchmark’s node %s', (node) => {
  it('is signed with the benchmark key of an issuer that the bundle vouches for', async () => {
    const { status, text, headers } = await service.get(pathOf(node));
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    const document = parseJson(utf8(text)) as JsonObject;
    expectSchema('benchmark', document);
    const verdict = await judged(document);
    expect(verdict).toMatchObject({ valid: true, family: 'benchmark', profile: node });
    expect(verdict.issuer).toMatchObject({ did: 'did:svc:local', trusted: true, key_state: 'active' });
  });

  it('no longer verifies once a number is nicer than it was', async () => {
    const { json } = await service.get(pathOf(node));
    const corpus = { ...(json.corpus as JsonObject), cases: 1_000_000 };
    expect((await judged({ ...json, corpus })).valid).toBe(false);
  });

  it('answers 304 to its tag, and to no other', async () => {
    const { headers } = await service.get(pathOf(node));
    const etag = headers.get('etag') ?? '';
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect((await service.get(pathOf(node), { 'if-none-match': etag })).status).toBe(304);
    expect((await service.get(pathOf(node), { 'if-none-match': '"other"' })).status).toBe(200);
  });
});

it('says what was measured, and where the rest is', async () => {
  const { json } = await service.get('/v1/compute/benchmark');
  expect(json).toMatchObject({ corpus: results.corpus, command: 'npm run benchmark', peers: results.peers });
  for (const [part, summary] of Object.entries(json.nodes as JsonObject) as [string, JsonObject][]) {
    const whole = (await service.get(summary.url as string)).json;
    expect([whole.node, whole.tiers, whole.paired]).toEqual([part, summary.tiers, summary.paired]);
  }
});

it('stays the same until the key is another', async () => {
  const before = await service.get('/v1/compute/benchmark');
  service.clock.advance(60_000);
  expect((await service.get('/v1/compute/benchmark')).text).toBe(before.text);
  await service.restart();
  const after = await service.get('/v1/compute/benchmark');
  expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
  expect(after.json.issued_at).not.toBe(before.json.issued_at);
});

it('is named by the descriptor of the inference routes', async () => {
  const { endpoints, benchmark_note: note } = (await service.get('/v1/compute')).json;
  for (const node of BENCHMARK_NODES) {
    expect(Object.values(endpoints as JsonObject)).toContain(`GET ${pathOf(node)}`);
  }
  expect(note).toContain('/v1/compute/benchmark');
});

it('is free to all, and no free read', async () => {
  const counted = await startTestService({ env: { TALLY_FREE_READ_PER_DAY: '1' } });
  const statuses = [];
  for (const node of BENCHMARK_NODES) statuses.push((await counted.get(pathOf(node))).status);
  await counted.close();
  expect(statuses).toEqual([200, 200, 200, 200]);
});
