import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type SessionVerification, verifySession } from '@tallystick/core';
import { createClient } from '@tallystick/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { serve, TALLY, tally, temporaryFolder } from './process.ts';

const HOOK = fileURLToPath(new URL('../packages/cli/bin/tally-hook.js', import.meta.url));
const SESSION = '3420f233-04ce-4d4b-b393-a6dcf31395b9';

let home: string;
beforeEach(() => {
  home = join(temporaryFolder(), 'home');
});
afterEach(() => {
  try {
    const pid = recorderPid();
    if (pid !== null) process.kill(pid, 'SIGKILL');
  } catch {
    // It gave its lock back, and ended, meanwhile.
  }
});

/** Runs the hook with an event, as Claude Code does. Its standard output would be read by the agent. */
async function hook(
  name: string,
  more: object = {},
  options: readonly string[] = [],
  agent = 'claude-code',
): Promise<string> {
  const child = spawn(process.execPath, [HOOK, agent, '--home', home, ...options], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(JSON.stringify({ hook_event_name: name, session_id: SESSION, cwd: '/', ...more }));
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  return stderr;
}

const use = (id: string, command = `echo ${id}`) => ({
  tool_name: 'Bash',
  tool_use_id: id,
  tool_input: { command },
});

/** The process that holds a session of this test open. */
function recorderPid(): number | null {
  const folder = join(home, 'sessions');
  const locks = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.lock')) : [];
  const [lock] = locks;
  return lock === undefined
    ? null
    : (JSON.parse(readFileSync(join(folder, lock), 'utf8')) as { pid: number }).pid;
}

/** The verdict on a session, once it is closed. */
async function closed(name = '', agent = 'claude-code'): Promise<SessionVerification> {
  const path = join(home, 'sessions', `${agent}-${SESSION}${name}.jsonl`);
  return vi.waitFor(
    async () => {
      const verdict = await verifySession(readFileSync(path), { now: Date.now() });
      expect(verdict.state).toBe('closed');
      return verdict;
    },
    { timeout: 60_000, interval: 50 },
  );
}

const outcomes = ({ entries }: SessionVerification): string[] =>
  entries.map(({ call }) =>
    call.kind === 'tool'
      ? `${call.tool} ${call.outcome}`
      : call.kind === 'session'
        ? call.event
        : 'reference',
  );

test('each tool use has a receipt with its outcome, in the order in which they ended', async () => {
  await hook('SessionStart', { source: 'startup' });
  await Promise.all([hook('PreToolUse', use('a')), hook('PreToolUse', use('b'))]);
  await hook('PreToolUse', use('c'));
  await hook('PostToolUse', { ...use('b'), tool_response: { stdout: 'b\n' } });
  await hook('PostToolUseFailure', { ...use('a'), error: 'Exit code 3', is_interrupt: false });
  const batch = ['a', 'b', 'c', 'd'].map((id) => ({ ...use(id), tool_response: 'said' }));
  await hook('PostToolBatch', { tool_calls: batch });
  await hook('PreToolUse', use('e'));
  await hook('PostToolUseFailure', { ...use('e'), error: '', is_interrupt: true });
  await hook('SessionEnd', { reason: 'other' });
  const verdict = await closed();
  expect(outcomes(verdict)).toEqual([
    'open',
    'Bash completed',
    'Bash error',
    'Bash denied',
    'Bash denied',
    'Bash cancelled',
    'close',
  ]);
  expect(verdict).toMatchObject({ valid: true, recorder: { by: 'own_key' } });
  await vi.waitFor(() => expect(existsSync(join(home, 'hooks.sock'))).toBe(false), { timeout: 60_000 });
});

test('a sub-agent has a session of its own, which its parent names', async () => {
  await hook('SubagentStart', { agent_id: 'a1', agent_type: 'general-purpose' });
  await hook('PreToolUse', { ...use('s'), agent_id: 'a1' });
  await hook('PostToolUse', { ...use('s'), agent_id: 'a1', tool_response: {} });
  await hook('SubagentStop', { agent_id: 'a1' });
  await hook('SessionEnd');
  const [child, parent] = [await closed('-a1'), await closed()];
  expect(outcomes(child)).toEqual(['open', 'Bash completed', 'close']);
  expect(outcomes(parent)).toEqual(['open', 'reference', 'close']);
  expect(child.parent).toEqual({
    id: parent.id,
    receipt_sha256: parent.entries[0]?.sha256,
    seq: '0',
  });
  expect(parent.entries[1]?.call).toMatchObject({
    child: child.id,
    receipt_sha256: child.entries[0]?.sha256,
  });
});

test('a recorder that is killed is replaced, and the call that it saw begin is unknown', async () => {
  await hook('PreToolUse', use('a'));
  await hook('PostToolUse', { ...use('a'), tool_response: 1 });
  await hook('PreToolUse', use('b'));
  process.kill(recorderPid() ?? 0, 'SIGKILL');
  await hook('PreToolUse', use('c'));
  await hook('PostToolUse', { ...use('c'), tool_response: 1 });
  // It can’t know what became of a and b, and says nothing of them.
  await hook('PostToolBatch', { tool_calls: [use('a'), use('b'), use('c')] });
  await hook('SessionEnd');
  expect(outcomes(await closed())).toEqual([
    'open',
    'Bash completed',
    'Bash unknown',
    'Bash completed',
    'close',
  ]);
});

test('what a hook can’t hand over, the next one does', async () => {
  const socket = join(home, 'nobody.sock');
  await hook('SessionStart');
  const said = await hook('PostToolUse', { ...use('a'), tool_response: 1 }, ['--socket', socket]);
  expect(said).toMatch(/^tally-hook: not recorded yet .*ENOENT/);
  await hook('PostToolUse', { ...use('b', 'second'), tool_response: 2 }, ['--socket', socket]);
  await hook('SessionEnd');
  expect(outcomes(await closed())).toEqual(['open', 'Bash completed', 'Bash completed', 'close']);
  expect(readdirSync(home).filter((name) => name.includes('lost'))).toEqual([]);
});

test('an agent that comes back to its session goes on in a file that continues it', async () => {
  await hook('SessionStart', { source: 'startup' });
  await hook('SessionEnd');
  const first = await closed();
  await hook('SessionStart', { source: 'resume' });
  await hook('PostToolUse', { ...use('a'), tool_response: 1 });
  await hook('SessionEnd');
  const second = await closed('-2');
  expect(outcomes(second)).toEqual(['open', 'Bash completed', 'close']);
  expect(second.continues).toMatchObject({ id: first.id, count: '2' });
});

test('what Codex does not tell its hooks is read from its transcript, once', async () => {
  const transcript = join(home, '../rollout.jsonl');
  const codex = (name: string, more: object = {}) =>
    hook(name, { transcript_path: transcript, ...more }, [], 'codex');
  const line = (payload: object): string => `${JSON.stringify({ type: 'response_item', payload })}\n`;
  const call = (id: string, name: string): string =>
    line({ type: 'function_call', call_id: id, name, arguments: '{"cmd":"x"}' });
  const output = (id: string): string => line({ type: 'function_call_output', call_id: id, output: 'said' });
  writeFileSync(transcript, call('earlier', 'exec_command') + output('earlier'));
  await codex('SessionStart', { source: 'resume' });
  await codex('PreToolUse', use('a'));
  await codex('PostToolUse', { ...use('a'), tool_response: '' });
  appendFileSync(transcript, call('a', 'exec_command') + output('a'));
  await codex('PreToolUse', use('b'));
  // A tool that failed, one that hooks are not told of, and a line that is still being written.
  appendFileSync(
    transcript,
    call('b', 'view_image') + output('b') + call('c', 'get_goal') + output('c') + '{"ty',
  );
  await codex('Stop');
  await codex('SessionEnd');
  const verdict = await closed('', 'codex');
  expect(outcomes(verdict)).toEqual([
    'open',
    'Bash completed',
    'Bash completed',
    'get_goal completed',
    'close',
  ]);
});

test('a recorder that somebody runs has a service sign and anchor', async () => {
  const data = { TALLY_DATA_DIR: join(temporaryFolder(), 'data'), TALLY_DEVNET: 'off' };
  const service = await serve(data);
  const made = await tally(['apikey', 'create', '--tier', 'scale', '--json'], data);
  const { key } = JSON.parse(made.stdout) as { key: string };
  const socket = join(home, 'recorder.sock');
  const at = ['--sign-at', service.url, '--anchor-at', service.url, '--socket', socket];
  const recorder = spawn(process.execPath, [TALLY, 'hooks', 'recorder', ...at], {
    env: { TALLY_HOME: home, TALLY_API_KEY: key },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await vi.waitFor(() => expect(existsSync(socket)).toBe(true), { timeout: 60_000 });
    for (const name of ['PreToolUse', 'PostToolUse', 'SessionEnd']) {
      expect(await hook(name, { ...use('a'), tool_response: 1 }, ['--socket', socket])).toBe('');
    }
    const verdict = await closed();
    expect(outcomes(verdict)).toEqual(['open', 'Bash completed', 'close']);
    expect(verdict).toMatchObject({ valid: true, recorder: { by: 'service' } });
    const client = createClient({ baseUrl: service.url, apiKey: key });
    const head = verdict.head?.slice('sha256:'.length) ?? '';
    await vi.waitFor(() => client.getAnchorByHash(head), { timeout: 60_000 });
  } finally {
    recorder.kill('SIGTERM');
    await once(recorder, 'close');
    await service.kill('SIGTERM');
  }
});

test('what is no event is left out, and the agent goes on', async () => {
  await hook('PreToolUse', { ...use('a'), session_id: '../../elsewhere' });
  await hook('PostToolUse', { ...use('b'), tool_response: '\ud800' });
  await hook('SessionEnd');
  const verdict = await closed();
  expect(outcomes(verdict)).toEqual(['open', 'Bash completed', 'close']);
  expect(verdict.entries[1]?.call).toMatchObject({ raw: ['result'] });
  expect(readFileSync(join(home, 'hooks.log'), 'utf8')).toContain('An event was left out');
});

test('--write adds the hooks to the settings, keeps what is there, and changes nothing the second time', async () => {
  const folder = join(home, '..', 'claude');
  const env = { TALLY_HOME: home, CLAUDE_CONFIG_DIR: folder, HOME: home };
  const first = await tally(['hooks', 'claude-code', '--write'], env);
  expect(first).toMatchObject({ code: 0, stdout: '' });
  const path = join(folder, 'settings.json');
  const other = { type: 'command', command: 'notify-send done' };
  const fresh = JSON.parse(readFileSync(path, 'utf8')) as { hooks: Record<string, unknown[]> };
  const own = fresh.hooks['Stop']?.[0];
  writeFileSync(
    path,
    JSON.stringify({
      model: 'opus',
      hooks: { Stop: [{ hooks: [other] }], Notification: [{ hooks: [other] }] },
    }),
  );
  await tally(['hooks', 'claude-code', '--write'], env);
  const written = readFileSync(path, 'utf8');
  expect(JSON.parse(written)).toEqual({
    model: 'opus',
    hooks: { ...fresh.hooks, Notification: [{ hooks: [other] }], Stop: [{ hooks: [other] }, own] },
  });
  expect((await tally(['hooks', 'claude-code', '--write'], env)).stderr).toContain('has the hooks already');
  expect(readFileSync(path, 'utf8')).toBe(written);
  rmSync(path);
  writeFileSync(path, '{ "hooks": [] }');
  expect(await tally(['hooks', 'claude-code', '--write'], env)).toMatchObject({ code: 2 });
  expect(readFileSync(path, 'utf8')).toBe('{ "hooks": [] }');
});
