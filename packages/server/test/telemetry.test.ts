import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Collector, type SentSpan, startCollector } from './collector.ts';
import { CHAT, MODEL, messages, type Routed, startRouted, svcIn, svcOf } from './compute.ts';
import { ALONE, apiKey } from './service.ts';

const SECRET = 'the ferry leaves at 7:40';

let collector: Collector;
let routed: Routed;
let key: { authorization: string };
beforeAll(async () => {
  collector = await startCollector();
  routed = await startRouted({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_METRIC_EXPORT_INTERVAL: '50',
      TALLY_PROVIDER_RETRIES: '1',
    },
  });
  key = await apiKey(routed.service, 'pro');
});
afterAll(async () => {
  await routed.close();
  await collector.close();
});

let traces = 0;
let traceId: string;
let traceparent: string;
const PARENT = '00f067aa0ba902b7';
beforeEach(() => {
  traces += 1;
  traceId = traces.toString(16).padStart(32, 'a');
  traceparent = `00-${traceId}-${PARENT}-01`;
  routed.upstream.requests.splice(0);
});

const named = (spans: readonly SentSpan[], name: string): SentSpan => {
  const found = spans.filter((span) => span.name === name);
  expect(found, name).toHaveLength(1);
  return found[0] as SentSpan;
};

describe('a call of a model', () => {
  it('is one trace: the caller’s, the service’s, the provider’s', async () => {
    const reply = await routed.chat({}, { traceparent, tracestate: 'vendor=1', ...key });
    const spans = await collector.trace(traceId, 3);
    const server = named(spans, `POST ${CHAT}`);
    const client = named(spans, 'chat gpt-4o-mini');
    const issue = named(spans, 'issue receipt');
    expect([server.parentSpanId, server.kind, server.status]).toEqual([PARENT, 2, 0]);
    expect([client.parentSpanId, client.kind, client.status]).toEqual([server.spanId, 3, 0]);
    expect([issue.parentSpanId, issue.kind, issue.status]).toEqual([server.spanId, 1, 0]);
    expect(client.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.response.model': expect.stringContaining('gpt-4o-mini'),
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 8,
      'gen_ai.usage.cache_read.input_tokens': 4,
    });
    expect(server.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': CHAT,
      'http.response.status_code': 200,
      'tallystick.request_id': reply.headers.get('x-request-id'),
      'tallystick.key': expect.stringMatching(/^key_/),
      'tallystick.receipt': svcOf(reply).receipt.receipt_id,
      'tallystick.charged_usdc': expect.stringMatching(/^0\.\d+$/),
    });
    const [asked] = routed.upstream.requests;
    expect(asked?.headers['traceparent']).toBe(`00-${traceId}-${client.spanId}-01`);
    expect(asked?.headers['tracestate']).toBe('vendor=1');
    expect(asked?.headers['authorization']).toBe('Bearer sk-operator-secret');
    expect(collector.resource()).toMatchObject({ 'service.name': 'tallystick' });
  });

  it('in a stream has spans to its last byte, with what the last chunk counts', async () => {
    const { headers, payloads } = await routed.stream({}, { traceparent });
    const spans = await collector.trace(traceId, 3);
    const server = named(spans, `POST ${CHAT}`);
    const client = named(spans, 'chat gpt-4o-mini');
    expect(client.attributes).toMatchObject({
      'gen_ai.response.model': expect.stringContaining('gpt-4o-mini'),
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 8,
    });
    expect(server.endNano).toBeGreaterThan(client.endNano);
    expect(server.attributes).toMatchObject({
      'tallystick.request_id': headers.get('x-request-id'),
      'tallystick.receipt': svcIn(payloads)?.receipt.receipt_id,
    });
  });

  it('has a span for each try, with why it failed', async () => {
    const failure = { fault: { kind: 'status', status: 503 } } as const;
    routed.upstream.play(failure, failure);
    const reply = await routed.chat({}, { traceparent });
    expect(reply.status).toBe(502);
    const spans = await collector.trace(traceId, 3);
    const tries = spans.filter(({ kind }) => kind === 3);
    expect(tries.map(({ status, attributes }) => [status, attributes['error.type']])).toEqual([
      [2, 'overloaded'],
      [2, 'overloaded'],
    ]);
    const server = named(spans, `POST ${CHAT}`);
    expect([server.status, server.attributes['error.type']]).toEqual([2, 'provider_failed']);
    const sent = routed.upstream.requests.map(({ headers }) => headers['traceparent']);
    expect(sent).toEqual(tries.map(({ spanId }) => `00-${traceId}-${spanId}-01`));
  });

  it('that breaks off in its stream has the error in both spans', async () => {
    routed.upstream.play({ fault: { kind: 'cut', after: 2 } });
    await routed.stream({}, { traceparent });
    const spans = await collector.trace(traceId, 3);
    expect(named(spans, 'chat gpt-4o-mini')).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'cut' },
    });
    expect(named(spans, `POST ${CHAT}`).attributes['error.type']).toBe('provider_failed');
  });

  it('embeds under the name of that operation', async () => {
    const body = { model: 'openai/text-embedding-3-small', input: SECRET };
    await routed.post('/v1/compute/embeddings', body, { traceparent });
    const spans = await collector.trace(traceId, 3);
    expect(named(spans, 'embeddings text-embedding-3-small').attributes).toMatchObject({
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.usage.input_tokens': 5,
    });
  });
});

it('issues a receipt within the trace of its caller', async () => {
  const response = await routed.post('/v1/receipt/free', { input: SECRET, purpose: 'test' }, { traceparent });
  const { receipt_id } = (await response.json()) as { receipt_id: string };
  const spans = await collector.trace(traceId, 2);
  const server = named(spans, 'POST /v1/receipt/free');
  expect(server.attributes['tallystick.receipt']).toBe(receipt_id);
  expect(named(spans, 'issue receipt').parentSpanId).toBe(server.spanId);
});

it('calls a refusal an error of the caller, not of the service', async () => {
  await routed.post('/v1/receipt/free', {}, { traceparent });
  const [server] = await collector.trace(traceId, 1);
  expect(server).toMatchObject({ status: 0, attributes: { 'error.type': 'missing_field' } });
});

it('begins a trace of its own where the caller sends none, or a malformed one', async () => {
  for (const header of [undefined, 'nonsense', `00-${'0'.repeat(32)}-${PARENT}-01`]) {
    const before = collector.spans().length;
    await routed.post('/v1/receipt/free', {}, header === undefined ? {} : { traceparent: header });
    await expect.poll(() => collector.spans().length).toBeGreaterThan(before);
    const span = collector.spans().at(-1);
    expect(span?.parentSpanId).toBeUndefined();
    expect(span?.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  }
});

// Each of several processes sends its own.
it.runIf(ALONE)('sends what /metrics says, under the same names', async () => {
  await routed.chat({}, { traceparent });
  const find = (metric: string, model?: string) =>
    collector.points().findLast((point) => point.metric === metric && point.attributes['model'] === model);
  await expect.poll(() => find('compute_calls_total', MODEL)?.value).toBeGreaterThan(0);
  expect(find('compute_calls_total', MODEL)?.kind).toBe('sum');
  expect(find('anchor_log_tree_size')?.kind).toBe('gauge');
  const latency = find('compute_upstream_seconds', MODEL);
  expect(latency?.kind).toBe('histogram');
  // One count more than there are bounds, each of what lies between two of them.
  expect(latency?.counts).toHaveLength(15);
  const text = (await routed.service.get('/metrics')).text;
  const count = /compute_upstream_seconds_count\{.*gpt-4o-mini"\} (\d+)/.exec(text)?.[1];
  await expect
    .poll(() => find('compute_upstream_seconds', MODEL)?.counts.reduce((sum, one) => sum + one))
    .toBe(Number(count));
});

it('sends no secret and none of the text', async () => {
  const content = `${SECRET} ${key.authorization}`;
  const spoken = { messages: [{ role: 'user', content }], user: 'hunter2' };
  await routed.chat(spoken, { traceparent, ...key });
  const headers = { cookie: 'hunter2', traceparent, ...key };
  await routed.post(`${CHAT}?token=hunter2`, { model: MODEL, messages }, headers);
  await collector.trace(traceId, 6);
  const before = collector.requests.length;
  await expect.poll(() => collector.requests.length).toBeGreaterThan(before + 1);
  const sent = Buffer.concat(collector.requests.map(({ body }) => body)).toString();
  expect(sent).toContain('gpt-4o-mini');
  for (const secret of [SECRET, 'hunter2', 'operator-secret', key.authorization.slice('Bearer '.length)])
    expect(sent).not.toContain(secret);
});

it('does not hear of what the service asks itself', async () => {
  const { services, app } = routed.service;
  const before = collector.spans().length;
  const probe = new Request('http://localhost/v1/receipt/free', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'x', purpose: 'probe' }),
  });
  expect((await app.fetch(probe, { probe: true })).status).toBe(200);
  await routed.post('/v1/receipt/free', {}, { traceparent });
  await collector.trace(traceId, 1);
  expect(collector.spans().length - before).toBe(1);
  expect(services.tracing).not.toBeNull();
});

describe('the encoding and a collector in trouble', () => {
  it('speaks protobuf by default, and answers whether or not the collector does', async () => {
    const own = await startCollector();
    own.answer(503);
    const service = await startRouted({
      env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${own.url}/custom`, OTEL_BSP_SCHEDULE_DELAY: '10' },
    });
    expect((await service.chat({}, { traceparent })).status).toBe(200);
    await expect.poll(() => own.requests.length).toBeGreaterThan(0);
    const [first] = own.requests;
    expect([first?.path, first?.headers['content-type']]).toEqual(['/custom', 'application/x-protobuf']);
    expect(first?.body.includes(Buffer.from(traceId, 'hex'))).toBe(true);
    expect(first?.body.includes('gen_ai.request.model')).toBe(true);
    await service.close();
    await own.close();
  });

  it('is off without an endpoint: nothing is sent on and nothing loaded', async () => {
    const service = await startRouted();
    expect(service.service.services.tracing).toBeNull();
    await service.chat({}, { traceparent });
    expect(service.upstream.requests[0]?.headers).not.toHaveProperty('traceparent');
    await service.close();
  });
});

it('keeps a part of the traces where it is told so', async () => {
  const service = await startRouted({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_SAMPLER: 'always_off',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    },
  });
  await service.chat({}, { traceparent });
  expect(service.upstream.requests[0]?.headers['traceparent']).toMatch(
    new RegExp(`^00-${traceId}-.{16}-00$`),
  );
  await service.close();
  expect(collector.spans().filter((span) => span.traceId === traceId)).toEqual([]);
});
