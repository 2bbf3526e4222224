import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  type IssuerRecord,
  type JsonObject,
  type SessionVerification,
  type Trust,
  trustOf,
  verifyCall,
  verifySession,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { withModels } from '../../packages/server/test/models.ts';
import { startUpstream, type Upstream } from '../../packages/server/test/upstream.ts';
import { installInto } from '../packages/install.ts';
import { type Served, serve, tally } from '../process.ts';
import { type Recorder, recordCalls } from './recorder.ts';

// The newest versions that were tried. Their programs are large, so they are fetched here and are no dependency.
const AGENTS = ['@anthropic-ai/claude-code@2.1.197', '@openai/codex@0.169.0'];

const root = fileURLToPath(new URL('../..', import.meta.url));
const KEY = 'a-provider-key';
const folder = mkdtempSync(join(tmpdir(), 'tally-agents-'));
const programs = join(folder, 'programs/node_modules');

/** A tool that the model asks for. */
interface Step {
  readonly tool: string;
  readonly input: JsonObject;
}

let upstream: Upstream;
let service: Served;
let recorder: Recorder;
let trust: Trust;
let work: string;

beforeAll(async () => {
  installInto(join(folder, 'programs'), AGENTS);
  upstream = await startUpstream();
  const config = join(folder, 'config.json');
  const native = {
    id: 'native/gpt',
    context: 400_000,
    max_output: 128_000,
    abilities: ['tools', 'vision', 'json', 'stream', 'reasoning'],
    price: { input: '1', output: '4' },
    prior: { general: 0.5 },
  };
  const provider = { name: 'native', kind: 'openai', base_url: `${upstream.url}/v1`, speaks: ['responses'] };
  writeFileSync(config, JSON.stringify(withModels({ providers: [provider], models: [native] })));
  service = await serve({
    TALLY_CONFIG: config,
    TALLY_DATA_DIR: join(folder, 'data'),
    TALLY_DEVNET: 'off',
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: upstream.url,
  });
  recorder = await recordCalls(service.url);
  const bundle = await fetch(`${service.url}/.well-known/trust.json`);
  trust = trustOf(((await bundle.json()) as { issuers: IssuerRecord[] }).issuers);
});
afterAll(async () => {
  await recorder.close();
  await service.kill('SIGTERM');
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Has the model ask for one tool after the other, and then say that it is done. */
function play(steps: readonly Step[]): void {
  upstream.always(({ body }) => {
    const done = JSON.stringify(body['messages'] ?? body['input']).match(
      /"(tool_result|function_call_output)"|"role":"tool"/g,
    );
    const step = steps[done?.length ?? 0];
    if (step === undefined) return { pieces: ['All ', 'done.'] };
    const id = `call_${done?.length ?? 0}`;
    return { pieces: [], toolCalls: [{ id, name: step.tool, pieces: [JSON.stringify(step.input)] }] };
  });
}

/**
 * Runs a program in a folder of its own. Every address that it or its children turn to is written down by the kernel's
 * tracer; all but the recorder's would be a message to somebody else.
 */
async function run(program: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const trace = join(work, '../addresses');
  const child = spawn(
    'strace',
    ['-f', '-qq', '-e', 'trace=connect,sendto,sendmsg,sendmmsg', '-o', trace, ...program],
    {
      cwd: work,
      env: { PATH: process.env['PATH'], HOME: join(work, '../home'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (status !== 0) throw new Error(`${program.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  const own = `sin_port=htons(${new URL(recorder.url).port}), sin_addr=inet_addr("127.0.0.1")`;
  const elsewhere = readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => line.includes('AF_INET') && !line.includes(own));
  expect(elsewhere).toEqual([]);
  return stdout;
}

/** Has an agent's hooks record its tool uses. @param options of `tally hooks` */
async function hook(...options: readonly string[]): Promise<void> {
  const env = { TALLY_HOME: tallyHome(), HOME: join(work, '../home'), CODEX_HOME: join(work, '../codex') };
  expect(await tally(['hooks', ...options, '--write'], env)).toMatchObject({ code: 0 });
}

const tallyHome = (): string => join(work, '../tally');

/**
 * The one session that the hooks have recorded is closed, and holds under its key: the tool uses in order, and a reference to
 * the receipt of each call of a model in that of the calls.
 */
async function expectSession(
  tools: readonly string[],
  modelCalls: readonly (string | null)[],
): Promise<void> {
  const folder = join(tallyHome(), 'sessions');
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  expect(names).toHaveLength(1);
  const file = join(folder, names[0] ?? '');
  // Nobody waits for the closing, which waits for the receipts of the calls.
  await vi.waitFor(
    async () => {
      const { state } = await verifySession(readFileSync(file), { now: Date.now() });
      expect(state).toBe('closed');
    },
    { timeout: 60_000 },
  );
  const { key_id: key } = JSON.parse(readFileSync(join(tallyHome(), 'recorder.json'), 'utf8')) as {
    key_id: string;
  };
  const kept = file.replace(/jsonl$/, 'receipts');
  const receipts = modelCalls.length === 0 ? [] : readdirSync(kept).map((name) => join(kept, name));
  const referenced = receipts.length === 0 ? [] : ['--referenced', ...receipts];
  const args = ['session', 'verify', file, '--json', '--key', key, ...referenced];
  const { code, stdout } = await tally(args, { TALLY_HOME: tallyHome() });
  expect(code).toBe(0);
  const verdict = JSON.parse(stdout) as SessionVerification;
  expect(verdict).toMatchObject({
    valid: true,
    trusted: true,
    state: 'closed',
    references: { valid: modelCalls.length, not_given: 0, contradicts: 0 },
  });
  const calls = verdict.entries.map(({ call }) => call);
  expect(calls.flatMap((call) => (call.kind === 'tool' ? [`${call.tool} ${call.outcome}`] : []))).toEqual(
    tools,
  );
  expect(calls.flatMap((call) => (call.kind === 'reference' ? [call.receipt_id] : []))).toEqual(modelCalls);
}

const receiptIds = (): readonly (string | null)[] =>
  recorder.calls.filter(({ receiptId }) => receiptId !== null).map(({ receiptId }) => receiptId);

/** Each call of a model has a receipt that the service signed for these very bytes. */
async function expectReceipts(path: string, calls: number): Promise<void> {
  const called = recorder.calls.filter((call) => call.path.startsWith(path) && call.request.length > 0);
  expect(called.map(({ status }) => status)).toEqual(Array(calls).fill(200));
  for (const { request, response, receiptId } of called) {
    const verdict = await verifyCall({ request, response, trust, now: Date.now() });
    const checked = verdict.checks.filter(({ name }) => name === 'request' || name === 'response');
    expect(checked.map(({ ok }) => ok)).toEqual([true, true]);
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true }, receipt_id: receiptId });
    const altered = Buffer.from(request.toString().replace('"stream":true', '"stream":false'));
    expect(await verifyCall({ request: altered, response, trust, now: Date.now() })).toMatchObject({
      valid: false,
    });
  }
}

function begin(name: string): void {
  work = join(folder, name, 'work');
  mkdirSync(work, { recursive: true });
  recorder.calls.length = 0;
}

describe('Claude Code works through the service', () => {
  const models = [
    ['Anthropic', 'anthropic/claude-sonnet-4-5'],
    ['OpenAI', 'openai/gpt-5'],
  ] as const;
  test.each(models)('with a model of %s', async (_name, model) => {
    begin(`claude-${model.replace('/', '-')}`);
    const file = join(work, 'stick.txt');
    await hook('claude-code');
    play([
      { tool: 'Write', input: { file_path: file, content: 'one notch\n' } },
      { tool: 'Edit', input: { file_path: file, old_string: 'one notch', new_string: 'two notches' } },
      { tool: 'Bash', input: { command: 'cat stick.txt | tee shown.txt', description: 'Shows the file' } },
    ]);
    const said = await run(
      [
        join(programs, '.bin/claude'),
        '--print',
        'Make two notches.',
        '--output-format',
        'json',
        '--permission-mode',
        'acceptEdits',
      ].concat(['--allowedTools', 'Bash,Edit,Write']),
      claudeEnvironment(model),
    );
    expect(JSON.parse(said)).toMatchObject({ is_error: false, result: 'All done.' });
    expect(readFileSync(join(work, 'shown.txt'), 'utf8')).toBe('two notches\n');
    await expectReceipts('/v1/compute/v1/messages', 4);
    await expectSession(['Write completed', 'Edit completed', 'Bash completed'], receiptIds());
  });
});

describe('Codex works through the service', () => {
  const models = [
    ['a provider that speaks Responses', 'native/gpt'],
    ['OpenAI’s chat completions', 'openai/gpt-5'],
    ['Anthropic', 'anthropic/claude-sonnet-4-5'],
  ] as const;
  test.each(models)('with a model of %s', async (_name, model) => {
    begin(`codex-${model.replace('/', '-')}`);
    const home = join(work, '../codex');
    mkdirSync(home);
    writeFileSync(join(home, 'config.toml'), codexConfig(model));
    await hook('codex', '--service', recorder.url);
    const patch = '*** Begin Patch\n*** Add File: stick.txt\n+two notches\n*** End Patch';
    play([
      { tool: 'exec_command', input: { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` } },
      { tool: 'exec_command', input: { cmd: 'cat stick.txt | tee shown.txt' } },
    ]);
    const said = await run(
      [join(programs, '.bin/codex'), 'exec', '--json', '--skip-git-repo-check'].concat([
        '--dangerously-bypass-approvals-and-sandbox',
        // Nobody is there to look at the hooks and to trust them.
        '--dangerously-bypass-hook-trust',
        'Make two notches.',
      ]),
      { CODEX_HOME: home, TALLY_API_KEY: 'none' },
    );
    expect(said).toContain('All done.');
    expect(readFileSync(join(work, 'shown.txt'), 'utf8')).toBe('two notches\n');
    await expectReceipts('/v1/compute/responses', 3);
    // Of a provider that speaks Responses, Codex writes down the provider's id of an answer alone.
    await expectSession(['Bash completed', 'Bash completed'], model === 'native/gpt' ? [] : receiptIds());
  });
});

/** The configuration that the page of the client shows, for the service and the model of the test. */
function codexConfig(model: string): string {
  const page = readFileSync(join(root, 'docs/clients/codex.md'), 'utf8');
  const [, config = ''] = /```toml\n(.*?)```/s.exec(page) ?? [];
  return config.replace('http://127.0.0.1:8787', recorder.url).replace(/(?<=^model = ").+(?=")/m, model);
}

/** The environment that the page of the client shows, likewise. */
function claudeEnvironment(model: string): Record<string, string> {
  const page = readFileSync(join(root, 'docs/clients/claude-code.md'), 'utf8');
  const lines = page.matchAll(/^export (\w+)=(.+)$/gm);
  return Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [
      name,
      value
        .replace('http://127.0.0.1:8787', recorder.url)
        .replace('$TALLY_API_KEY', 'none')
        .replace(/anthropic\/.+/, model),
    ]),
  );
}
