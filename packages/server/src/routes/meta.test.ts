import { hash } from 'node:crypto';
import { type ErrorCode, errorTable } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { testFrame } from '../../test/frame.ts';
import { createApi } from '../http/api.ts';
import { metaRoutes } from './meta.ts';

function testApi(ready: () => Promise<Record<string, string>> = async () => ({ store: 'ok' })) {
  const frame = testFrame();
  const api = createApi(frame);
  api.add(...metaRoutes({ api, metrics: frame.metrics, measure: async () => {}, ready }));
  return api;
}

async function read(path: string): Promise<string> {
  return (await testApi().app.request(path)).text();
}

describe('error codes', () => {
  const codes = Object.keys(errorTable).toSorted();

  it('are the same on the page that explains them', async () => {
    const anchors = [...(await read('/docs/errors')).matchAll(/<div class="error" id="(\w+)">/g)].map(
      ([, id]) => String(id),
    );
    expect(anchors.toSorted()).toEqual(codes);
  });

  it('are the same in the OpenAPI type', async () => {
    const document = JSON.parse(await read('/openapi.json')) as {
      components: { schemas: { Problem: { properties: { code: { enum: ErrorCode[] } } } } };
    };
    expect(document.components.schemas.Problem.properties.code.enum.toSorted()).toEqual(codes);
  });

  it('have a heading for every status', async () => {
    expect(await read('/docs/errors')).not.toMatch(/<h2>\d{3} <\/h2>/);
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

describe.each(['/docs', '/docs/errors'])('%s', (path) => {
  it('allows its own style sheet and nothing else', async () => {
    const answer = await testApi().app.request(path);
    const page = await answer.text();
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain(`default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'`);
    expect(page).not.toMatch(/<script|style="|src=|@import|url\(/);
  });

  it('has no link into the void and no id twice', async () => {
    const page = await read(path);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });
});

describe('the reference', () => {
  it('shows every operation of the document, each with a command', async () => {
    const { app, document } = testApi();
    const page = await (await app.request('/docs')).text();
    const paths = Object.keys(document().paths ?? {});
    expect(paths).toContain('/readyz');
    for (const path of paths) {
      expect(page).toContain(`<code class="path">${path}</code>`);
      expect(page).toContain(`https://receipts.test${path}`);
    }
  });
});
