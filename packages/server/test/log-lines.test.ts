import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogStorms } from '../../kit/src/log-storm.ts';
import { createApp } from '../src/app/app.ts';
import { createLogger } from '../src/observability/observability.ts';
import { CHAT, MODEL, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { apiKey, toReply } from './service.ts';

let routed: Routed;
let key: { authorization: string };
beforeAll(async () => {
  routed = await startRouted({ env: { TALLY_PROVIDER_RETRIES: '1' } });
  key = await apiKey(routed.service, 'pro');
});
afterAll(() => routed.close());

const lines: Record<string, unknown>[] = [];
let post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
beforeEach(() => {
  lines.splice(0);
  const logger = createLogger('info', { write: (line) => lines.push(JSON.parse(line)) });
  const storms = createLogStorms(logger);
  const { services } = routed.service;
  const compute = { ...services.compute, pipeline: { ...services.compute.pipeline, logger, storms } };
  const app = createApp({ ...services, compute, logger, storms });
  post = async (path, body, headers = {}) =>
    app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
});

const said = (msg: RegExp) => lines.filter((line) => msg.test(String(line['msg'])));
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('the line of a request', () => {
  it('says who called, which model answered, and what it cost', async () => {
    const did = 'did:web:agent.example';
    const headers = { 'x-request-id': 'r1', 'x-agent-did': did, traceparent, ...key };
    const reply = await toReply(await post(CHAT, { model: MODEL, messages }, headers));
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        msg: 'request',
        requestId: 'r1',
        traceId: TRACE,
        method: 'POST',
        route: CHAT,
        status: 200,
        milliseconds: expect.any(Number),
        key: expect.stringMatching(/^key_[0-9a-z]{16}$/),
        did,
        didProved: false,
        receipt: svcOf(reply).receipt.receipt_id,
        model: MODEL,
        provider: 'openai',
        promptTokens: 12,
        completionTokens: 8,
        chargedUsdc: expect.stringMatching(/^0\.\d+$/),
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(key.authorization.slice('Bearer '.length));
  });

  it('of a stream is written when it is billed', async () => {
    const response = await post(CHAT, { model: MODEL, messages, stream: true }, { 'x-request-id': 'r2' });
    expect(lines).toEqual([]);
    await response.text();
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatchObject({
      requestId: 'r2',
      status: 200,
      receipt: response.headers.get('x-receipt-id'),
      promptTokens: 12,
    });
  });

  it('of a stream that broke off says why', async () => {
    routed.upstream.play({ fault: { kind: 'cut', after: 2 } });
    await (await post(CHAT, { model: MODEL, messages, stream: true })).text();
    await expect.poll(() => said(/^request$/)).toMatchObject([{ status: 200, code: 'provider_failed' }]);
  });

  it('names the receipt that was minted, and the code of a refusal', async () => {
    const minted = await post('/v1/receipt/free', { input: 'x', purpose: 'test' });
    await post('/v1/receipt/free', { purpose: 'test' });
    const { receipt_id } = (await minted.json()) as { receipt_id: string };
    expect(lines).toMatchObject([
      { level: 'info', status: 200, receipt: receipt_id },
      { level: 'info', status: 422, code: 'missing_field' },
    ]);
  });
});

it('docs/observability.md has each member of these lines', async () => {
  const page = readFileSync(new URL('../../../docs/observability.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('\n## Log lines\n');
  const named = (section.split('\n## ')[0] ?? '').matchAll(/`(\w+)`/g);
  const listed = new Set([...named].map(([, name]) => name));
  routed.upstream.play({ fault: { kind: 'status', status: 503 } });
  await post(
    CHAT,
    { model: MODEL, messages },
    { 'x-agent-did': 'did:web:agent.example', traceparent, ...key },
  );
  await post('/v1/receipt/free', {});
  const members = new Set(lines.flatMap((line) => Object.keys(line)));
  expect(members).toContain('waitMs');
  expect([...members].filter((name) => !listed.has(name))).toEqual([]);
});

describe('a provider that fails', () => {
  it('is told of by each retry and each fallback, and its failure without a stack', async () => {
    routed.upstream.always({ fault: { kind: 'status', status: 503 } });
    const body = { model: 'auto', messages, provider: { only: ['openai'] } };
    const response = await post(CHAT, body, { 'x-request-id': 'r3', traceparent });
    expect(response.status).toBe(502);
    const [retry] = said(/is tried again/);
    expect(retry).toMatchObject({
      level: 'warn',
      requestId: 'r3',
      traceId: TRACE,
      provider: 'openai',
      model: expect.stringContaining('openai/'),
      why: 'overloaded',
      status: 503,
      waitMs: expect.any(Number),
    });
    const [fallback] = said(/the next one is tried/);
    expect(fallback).toMatchObject({ level: 'warn', requestId: 'r3', model: retry?.['model'] });
    expect(fallback?.['next']).not.toBe(retry?.['model']);
    const [failed] = said(/request failed/);
    expect(failed).toMatchObject({
      level: 'error',
      requestId: 'r3',
      code: 'provider_failed',
      err: { code: 'provider_failed', cause: { type: 'ProviderError' } },
    });
    expect(JSON.stringify(lines)).not.toContain('.ts:');
    routed.upstream.always({});
  });

  it('fills no log: each kind has a few lines', async () => {
    routed.upstream.always({ fault: { kind: 'status', status: 503 } });
    for (let count = 0; count < 8; count++) {
      await post(CHAT, { model: 'anthropic/claude-haiku-4-5', messages });
    }
    expect(said(/is tried again/).length).toBeLessThanOrEqual(3);
    routed.upstream.always({});
  });
});
