import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../packages/cli/test/tally.ts';
import { VERSION } from '../packages/core/src/index.ts';
import { startTestService, type TestService } from '../packages/server/test/service.ts';

const root = new URL('..', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const manifests = [
  'package.json',
  ...readdirSync(new URL('packages', root)).map((one) => `packages/${one}/package.json`),
];
const found = (path: string, pattern: RegExp): string | undefined => pattern.exec(text(path))?.[1];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('one version is said by', () => {
  it.each(manifests)('%s, and of what it needs of the project', (path) => {
    const { version, dependencies = {} } = JSON.parse(text(path));
    const own = Object.entries(dependencies).filter(([name]) => name.startsWith('@tallystick/'));
    expect([version, ...own.map(([, wanted]) => wanted)]).toEqual(Array(own.length + 1).fill(VERSION));
  });

  it('the Python package and its module', () => {
    expect(found('python/pyproject.toml', /^version = "([^"]+)"$/m)).toBe(VERSION);
    expect(found('python/src/tallystick/__init__.py', /^__version__ = "([^"]+)"$/m)).toBe(VERSION);
  });

  it('the Helm chart and the image that it runs', () => {
    expect(found('deploy/helm/tallystick/Chart.yaml', /^version: (.+)$/m)).toBe(VERSION);
    expect(found('deploy/helm/tallystick/Chart.yaml', /^appVersion: (.+)$/m)).toBe(VERSION);
  });

  it('the OpenAPI document and the service’s own page as JSON', async () => {
    expect((await service.get('/openapi.json')).json).toMatchObject({ info: { version: VERSION } });
    const { json } = await service.get('/', { accept: 'application/json' });
    expect(json).toMatchObject({ service: 'tallystick', version: VERSION });
  });

  it('MCP', async () => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '0' },
    };
    const { text: answer } = await service.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'initialize', params },
      { accept: 'application/json, text/event-stream', host: '127.0.0.1:8787' },
    );
    expect(/"serverInfo":\{[^}]*"version":"([^"]+)"/.exec(answer)?.[1], answer).toBe(VERSION);
  });

  it('tally', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
  });

  it('nothing else: the compute descriptor has the version of its specification', async () => {
    const { json } = await service.get('/v1/compute');
    expect(json).toMatchObject({ version: '2.0.0' });
  });
});
