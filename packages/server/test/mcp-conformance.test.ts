import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../src/app/app.ts';
import { listen } from '../src/app/listen.ts';
import { addConformanceFixture } from './mcp-fixture.ts';
import { startTestService, type TestService } from './service.ts';

const PROGRAM = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** Those that need none of the tools, prompts and resources that the suite wants a server to have for it. */
const AS_IT_IS = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

let service: TestService;
let url: string;
let withFixture: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  service = await startTestService();
  url = await service.listen();
  const { fetch } = createApp(service.services, { extendMcp: addConformanceFixture });
  const open = async () => ({ fetch, close: async () => {} });
  withFixture = await listen({ host: '127.0.0.1', port: 0, open });
});
afterAll(async () => {
  await withFixture.close();
  await service.close();
});

async function conformance(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAM, 'server', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const output = (await Promise.all([text(child.stdout), text(child.stderr)])).join('');
  return { code: await ended, output };
}

describe('@modelcontextprotocol/conformance', () => {
  it.each(AS_IT_IS)('passes %s on /mcp as it is', async (scenario) => {
    const { code, output } = await conformance('--url', `${url}/mcp`, '--scenario', scenario);
    expect(code, output).toBe(0);
    expect(output).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
  });

  it('passes the active suite with the tools that it wants for it', async () => {
    const at = `http://127.0.0.1:${withFixture.address.port}/mcp`;
    const { code, output } = await conformance('--url', at, '--suite', 'active');
    expect(code, output).toBe(0);
    expect(output).toMatch(/Running active suite \(30 scenarios\)/);
    expect(output).toMatch(/Total: [4-9]\d passed, 0 failed/);
    expect(output).not.toContain('✗');
  });

  it('passes the pending scenario of JSON Schema', async () => {
    const at = `http://127.0.0.1:${withFixture.address.port}/mcp`;
    const { code, output } = await conformance('--url', at, '--scenario', 'json-schema-2020-12');
    expect(code, output).toBe(0);
  });
});
