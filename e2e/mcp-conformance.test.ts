import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judge, run, startProgram, stopPrograms } from './mcp-wrapped.ts';
import { TALLY, temporaryFolder } from './process.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const SERVER = fileURLToPath(new URL('mcp-conformance-server.ts', import.meta.url));
const OVER_HTTP = fileURLToPath(new URL('mcp-over-http.ts', import.meta.url));

let folder: string;
let wrapped: readonly string[];
let env: Record<string, string>;
beforeEach(() => {
  folder = temporaryFolder();
  wrapped = [TALLY, 'mcp', 'wrap'];
  env = { TALLY_HOME: folder };
});
afterEach(stopPrograms);

const start = (...args: readonly string[]): Promise<string> => startProgram(args, env);

/** What the official suite finds, line by line. */
async function findings(url: string): Promise<readonly string[]> {
  const { stdout } = await run([SUITE, 'server', '--url', url, '--suite', 'active'], '', {});
  const lines = stdout.split('\n').filter((line) => /^\s*(?:✓|✗)|^Total|Passed:/.test(line));
  expect(lines.length, stdout).toBeGreaterThan(30);
  return lines;
}

/** Number of calls that have a receipt, in the sessions that were kept. */
async function recorded(): Promise<number> {
  const files = readdirSync(join(folder, 'sessions')).filter((name) => name.endsWith('.jsonl'));
  const verdicts = await Promise.all(files.map((name) => judge(join(folder, 'sessions', name))));
  for (const verdict of verdicts) expect(verdict).toMatchObject({ valid: true, state: 'closed' });
  return verdicts.reduce((sum, { count }) => sum + count - 2, 0);
}

/**
 * The suite's findings about the server over stdio without a proxy. Two tests compare with them, and the suite runs once for both: it
 * opens more than thirty sessions, each of which starts two processes.
 */
let overStdio: Promise<readonly string[]> | undefined;
async function withoutProxy(): Promise<readonly string[]> {
  overStdio ??= start(OVER_HTTP, process.execPath, SERVER).then(findings);
  return overStdio;
}

describe('the official conformance suite finds the same with the proxy as without it', {
  timeout: 900_000,
}, () => {
  it('over Streamable HTTP', async () => {
    const bare = await start(SERVER, 'http');
    const proxied = await start(...wrapped, '--server', bare, '--listen', '0');
    const expected = await findings(bare);
    expect(await findings(proxied)).toEqual(expected);
    expect(expected.join('\n')).toMatch(/Total: [4-9]\d passed, 0 failed/);
    await stopPrograms();
    expect(await recorded()).toBeGreaterThan(10);
  });

  it('over stdio', async () => {
    const server = [process.execPath, SERVER];
    const proxied = await start(OVER_HTTP, process.execPath, ...wrapped, '--', ...server);
    const expected = await withoutProxy();
    expect(await findings(proxied)).toEqual(expected);
    expect(expected.join('\n')).toMatch(/Total: [4-9]\d passed, 0 failed/);
    await stopPrograms();
    expect(await recorded()).toBeGreaterThan(10);
  });

  it('over stdio in front of Streamable HTTP', async () => {
    const server = await start(SERVER, 'http');
    const proxied = await start(OVER_HTTP, process.execPath, ...wrapped, '--server', server);
    expect(await findings(proxied)).toEqual(await withoutProxy());
    await stopPrograms();
    expect(await recorded()).toBeGreaterThan(10);
  });
});
