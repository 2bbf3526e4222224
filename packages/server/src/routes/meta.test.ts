import { type ErrorCode, errorTable } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { testFrame } from '../../test/frame.ts';
import { createApi } from '../http/api.ts';
import { metaRoutes } from './meta.ts';

function testApi(ready: () => Promise<Record<string, string>> = async () => ({ store: 'ok' })) {
  const frame = testFrame();
  const api = createApi(frame);
  api.add(...metaRoutes({ api, exposition: () => frame.metrics.registry.metrics(), ready }));
  return api;
}

async function read(path: string): Promise<string> {
  return (await testApi().app.request(path)).text();
}

describe('error codes', () => {
  const codes = Object.keys(errorTable).toSorted();

  it('are the same in the OpenAPI type', async () => {
    const document = JSON.parse(await read('/openapi.json')) as {
      components: { schemas: { Problem: { properties: { code: { enum: ErrorCode[] } } } } };
    };
    expect(document.components.schemas.Problem.properties.code.enum.toSorted()).toEqual(codes);
  });
});

describe('health', () => {
  it('is ok', async () => {
    expect(JSON.parse(await read('/healthz'))).toEqual({ status: 'ok' });
  });

  it('is ready when every part is', async () => {
    const answer = await testApi().app.request('/readyz');
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok', checks: { store: 'ok' } }]);
  });

  it('is not when one is not', async () => {
    const checks = { store: 'unreachable', trust: 'ok' };
    const answer = await testApi(async () => checks).app.request('/readyz');
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'unavailable', checks }]);
  });
});

it('gives metrics of requests and of the process', async () => {
  const text = await read('/metrics');
  expect(text).toContain('# TYPE http_requests_total counter');
  expect(text).toContain('process_resident_memory_bytes');
});
