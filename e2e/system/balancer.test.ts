import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BALANCED, type Balancer, startBalancer } from '../../packages/server/test/balancer.ts';
import { temporaryFolder } from '../process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the balancer', () => {
  let balancer: Balancer;
  const services = Array.from({ length: BALANCED }, (_, index) =>
    createServer((request, response) => {
      if (request.url !== '/stream') return void response.end(`${index}`);
      response.setHeader('content-type', 'text/event-stream');
      response.write('data: first\n\n');
      response.once('close', () => hungUp.resolve());
    }),
  );
  const hungUp = Promise.withResolvers<void>();
  beforeAll(async () => {
    const folder = temporaryFolder();
    const sockets = services.map((_, index) => join(folder, `${index}`));
    await Promise.all(services.map((service, index) => once(service.listen(sockets[index]), 'listening')));
    balancer = await startBalancer('caddy', sockets, folder);
  });
  afterAll(async () => {
    await balancer.close();
    for (const service of services) service.close().closeAllConnections();
  });

  it('hands the requests of one connection to one process after the other', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (): Promise<string> => {
      const [response] = (await once(get(balancer.url, { agent }), 'response')) as [IncomingMessage];
      return text(response);
    };
    const answers: string[] = [];
    while (answers.length < 3 * BALANCED) answers.push(await ask());
    agent.destroy();
    for (let turn = 0; turn < answers.length; turn += BALANCED)
      expect(new Set(answers.slice(turn, turn + BALANCED)).size).toBe(BALANCED);
  });

  it('passes a stream on as it comes, and tells the service when its client has gone', async () => {
    const asked = get(`${balancer.url}/stream`);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('data: first\n\n');
    asked.destroy();
    await hungUp.promise;
  });
});

/** What processes share, and the suites that use it. CONTRIBUTING.md says how to run others. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  'pins of routing and provider health': [
    'compute-pins-two-processes',
    'compute-rests-two-processes',
    'compute-resting',
  ],
  'sessions of MCP': ['mcp', 'mcp-conformance'],
  'budgets and limits': ['keys', 'quota'],
  'memory of compression': ['compute-retrieve'],
  'sign-in by DID and its replays': ['agents'],
  'the list of calls and its live tail': ['compute-calls'],
  'idempotency keys': ['idempotency', 'anchored-receipts'],
};
/** Those in which every process is one of its own; in those above, three services share one. */
const OF_PROCESSES = ['clients-openai', 'receipt-fetch', 'frameworks-sessions'];

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

describe('suites of clients, with three processes behind the balancer', () => {
  let vitest: ChildProcess | undefined;
  afterAll(() => void vitest?.kill('SIGKILL'));

  it('pass', { timeout: 1_800_000 }, async () => {
    const files = [
      ...Object.values(SUITES)
        .flat()
        .map((name) => `packages/server/test/${name}.test.ts`),
      ...OF_PROCESSES.map((name) => `e2e/${name}.test.ts`),
    ];
    const output = join(temporaryFolder(), 'report.json');
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$|TEST$)/.test(name));
    vitest = spawn(
      join(root, 'node_modules/.bin/vitest'),
      ['run', '--maxWorkers=2', '--reporter=json', `--outputFile=${output}`, ...files],
      {
        cwd: root,
        env: { ...Object.fromEntries(own), TALLY_TEST_BALANCER: 'caddy' },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    await once(vitest, 'close');
    const report = JSON.parse(readFileSync(output, 'utf8')) as Report;
    const failed = report.testResults.flatMap(({ name, message, assertionResults }) => [
      ...(message === '' ? [] : [`${name}: ${message}`]),
      ...assertionResults
        .filter(({ status }) => status !== 'passed')
        .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join('\n')),
    ]);
    expect(failed).toEqual([]);
    expect(report.testResults.map(({ name }) => name.slice(root.length)).toSorted()).toEqual(
      files.toSorted(),
    );
    expect(report.numPassedTests).toBeGreaterThan(250);
  });
});
