import { z } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { post, testFrame } from '../../test/frame.ts';
import { json } from './answer.ts';
import { createApi } from './api.ts';
import { endpoint } from './endpoint.ts';

const echo = endpoint({
  method: 'post',
  path: '/echo/{id}',
  operationId: 'echo',
  group: 'Test',
  summary: 'Echo',
  availability: 'live',
  params: z.object({ id: z.string() }),
  query: z.strictObject({ loud: z.enum(['yes', 'no']).optional() }),
  body: z.strictObject({ text: z.string() }),
  example: { text: 'hi' },
  headers: { 'X-Test': 'Does nothing.' },
  answers: {
    200: { description: 'Said', schema: z.object({ said: z.string() }), headers: { 'X-Said': 'How often.' } },
  },
  errors: ['empty_input'],
  handle: ({ body, query, params, headers }) => {
    headers['x-said'] = '1';
    if (body.text === '') throw new TallyError('empty_input', 'text is empty.', { field: 'text' });
    if (body.text === 'unlisted') throw new TallyError('receipt_purged', 'Gone.');
    if (body.text === 'crash') throw new Error('hunter2');
    return json({ said: `${params.id} ${body.text} ${query.loud ?? ''}` });
  },
});

const status = endpoint({
  method: 'get',
  path: '/status',
  operationId: 'getStatus',
  group: 'Test',
  summary: 'Status',
  availability: 'pilot',
  answers: { 200: { description: 'Fine' } },
  handle: () => json({ fine: true }),
});

const readOne = endpoint({
  method: 'get',
  path: '/free/{id}',
  operationId: 'readOne',
  group: 'Test',
  summary: 'Read one',
  availability: 'live',
  params: z.object({ id: z.string() }),
  answers: { 200: { description: 'Read' } },
  handle: ({ params }) => json(params),
});

const mint = endpoint({
  method: 'post',
  path: '/free/mint',
  operationId: 'mint',
  group: 'Test',
  summary: 'Mint',
  availability: 'live',
  answers: { 200: { description: 'Minted' } },
  handle: () => json({ minted: true }),
});

function testApi() {
  const frame = testFrame();
  const api = createApi(frame);
  api.add(echo, status, readOne, mint);
  return { ...api, frame };
}

describe('an endpoint', () => {
  it('gets params, query and body, and its headers go out', async () => {
    const answer = await testApi().app.request('/echo/7?loud=yes', post({ text: 'hi' }));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ said: '7 hi yes' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-said': '1',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('X-Receipt-Profile'),
    });
  });

  it.each<[string, string, RequestInit, number, string, string | undefined]>([
    ['an error of its own', '/echo/7', post({ text: '' }), 422, 'empty_input', 'text'],
    ['a missing field', '/echo/7', post({}), 422, 'missing_field', 'text'],
    ['a wrong query', '/echo/7?loud=maybe', post({ text: 'a' }), 422, 'invalid_field', 'loud'],
    ['an unknown query', '/echo/7?lod=yes', post({ text: 'a' }), 422, 'unknown_field', 'lod'],
    ['a body that is not JSON', '/echo/7', post('{'), 400, 'json_syntax', undefined],
    [
      'a body that is too large',
      '/echo/7',
      post({ text: 'x'.repeat(1_024) }),
      413,
      'body_too_large',
      undefined,
    ],
    [
      'another type',
      '/echo/7',
      post('{}', { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
      undefined,
    ],
    ['a crash', '/echo/7', post({ text: 'crash' }), 500, 'internal', undefined],
    ['no such path', '/nope', {}, 404, 'not_found', undefined],
    ['another method', '/echo/7', { method: 'PUT' }, 405, 'method_not_allowed', undefined],
  ])('answers %s with a problem', async (_, path, init, statusCode, code, field) => {
    const answer = await testApi().app.request(path, init);
    expect(answer.status).toBe(statusCode);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({
      status: statusCode,
      code,
      type: `https://receipts.test/docs/errors#${code}`,
    });
    expect(problem['field']).toBe(field);
    expect(problem['instance']).toBe(`urn:request:${answer.headers.get('x-request-id')}`);
  });

  it('keeps its headers on a problem', async () => {
    const answer = await testApi().app.request('/echo/7', post({ text: '' }));
    expect(answer.headers.get('x-said')).toBe('1');
  });
});

describe('the rest', () => {
  it('names the methods of a path', async () => {
    const { app } = testApi();
    expect((await app.request('/echo/7')).headers.get('allow')).toBe('POST, OPTIONS');
    expect((await app.request('/status', { method: 'DELETE' })).headers.get('allow')).toBe(
      'GET, HEAD, OPTIONS',
    );
  });

  it('answers HEAD like GET', async () => {
    const answer = await testApi().app.request('/status', { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });

  it('lets a page ask first', async () => {
    const { app } = testApi();
    const headers = {
      origin: 'https://a.test',
      'access-control-request-headers': 'authorization,x-agent-did',
    };
    const answer = await app.request('/echo/7', { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'authorization,x-agent-did',
      'access-control-max-age': '86400',
    });
    expect((await app.request('/nope', { method: 'OPTIONS' })).status).toBe(404);
  });
});

describe('request ids', () => {
  it.each([['abc-1.2:3_4'], ['x'.repeat(128)]])('keeps %s', async (id) => {
    const answer = await testApi().app.request('/status', { headers: { 'x-request-id': id } });
    expect(answer.headers.get('x-request-id')).toBe(id);
  });

  it.each([['a b'], ['x'.repeat(129)], ['<b>'], ['']])('replaces %j', async (id) => {
    const answer = await testApi().app.request('/status', { headers: { 'x-request-id': id } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the log', () => {
  it('has a line a request, without query, body and credential', async () => {
    const { app, frame } = testApi();
    const headers = { authorization: 'Bearer hunter2', 'x-request-id': 'r1' };
    await app.request('/echo/hunter2?loud=yes', post({ text: 'hunter2' }, headers));
    expect(frame.lines).toHaveLength(1);
    expect(JSON.parse(frame.lines[0] ?? '')).toMatchObject({
      requestId: 'r1',
      route: '/echo/{id}',
      status: 200,
    });
    expect(frame.lines.join()).not.toMatch(/hunter2|loud/);
  });

  it('keeps the cause of a fault, which the answer does not show', async () => {
    const { app, frame } = testApi();
    const answer = await app.request('/echo/7', post({ text: 'crash' }));
    expect(await answer.text()).not.toContain('hunter2');
    expect(frame.lines.join()).toContain('hunter2');
  });

  it('has the first few lines of a storm of faults, not one a request', async () => {
    const { app, frame } = testApi();
    for (let i = 0; i < 30; i++) await app.request('/echo/7', post({ text: 'crash' }));
    const levels = frame.lines.map((line) => (JSON.parse(line) as { level: string }).level);
    expect(levels.filter((level) => level === 'error')).toHaveLength(3);
    expect(levels.filter((level) => level === 'info')).toHaveLength(20);
    const text = await frame.metrics.registry.metrics();
    expect(text).toContain('http_requests_total{route="/echo/{id}",method="POST",status="500"} 30');
  });

  it('tells of an error that the endpoint does not list', async () => {
    const { app, frame } = testApi();
    await app.request('/echo/7', post({ text: 'unlisted' }));
    expect(frame.lines.join()).toMatch(/"code":"receipt_purged".*does not list/);
  });

  it('has no warning of a path that is asked by another method, which is counted for no endpoint', async () => {
    const { app, frame } = testApi();
    const answer = await app.request('/free/mint');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect(frame.lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['info']);
    const text = await frame.metrics.registry.metrics();
    expect(text).toContain('http_requests_total{route="(none)",method="(any)",status="405"} 1');
  });
});

it('counts by route template and status', async () => {
  const { app, frame } = testApi();
  await app.request('/echo/1', post({ text: 'a' }));
  await app.request('/echo/2', post({ text: 'a' }));
  await app.request('/nope');
  const text = await frame.metrics.registry.metrics();
  expect(text).toContain('http_requests_total{route="/echo/{id}",method="POST",status="200"} 2');
  expect(text).toContain('http_requests_total{route="(none)",method="(any)",status="404"} 1');
  expect(text).toContain('http_request_duration_seconds_count{route="/echo/{id}",method="POST"} 2');
});

describe('the OpenAPI document', () => {
  it('has every endpoint with its label, its parameters and all its codes', () => {
    const { document } = testApi();
    const { openapi, paths, components } = document();
    expect(openapi).toBe('3.1.0');
    const operation = paths?.['/echo/{id}']?.post as Record<string, unknown>;
    expect(operation).toMatchObject({
      'x-availability': 'live',
      tags: ['Test'],
      parameters: expect.arrayContaining([
        expect.objectContaining({ in: 'path', name: 'id', required: true }),
        expect.objectContaining({ in: 'query', name: 'loud' }),
        expect.objectContaining({ in: 'header', name: 'X-Test' }),
      ]),
      requestBody: { content: { 'application/json': { example: { text: 'hi' } } } },
    });
    expect(paths?.['/status']?.get).toMatchObject({ 'x-availability': 'pilot' });
    const listed = JSON.stringify(
      Object.values(operation['responses'] as Record<string, { $ref?: string }>).map((answer) =>
        answer.$ref === undefined ? answer : components?.responses?.[answer.$ref.split('/').at(-1) ?? ''],
      ),
    );
    expect(listed).not.toContain('null');
    for (const code of echo.errors) expect(listed).toContain(`"${code}"`);
    expect([...echo.errors]).toEqual(
      expect.arrayContaining(['empty_input', 'json_syntax', 'missing_field', 'internal']),
    );
    expect(status.errors).toEqual(new Set(['internal']));
  });

  it('grows with what is added', () => {
    const api = createApi(testFrame());
    expect(api.document().paths).toEqual({});
    api.add(status);
    expect(Object.keys(api.document().paths ?? {})).toEqual(['/status']);
  });
});
