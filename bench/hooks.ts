import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from './machine.ts';
import type { Report } from './report.ts';
import { row } from './row.ts';

const ROUNDS = 5;
const RUNS = 20;
const HOOK = fileURLToPath(new URL('../packages/cli/bin/tally-hook.js', import.meta.url));
const TALLY = fileURLToPath(new URL('../packages/cli/bin/tally.js', import.meta.url));

/** Medians of one round, in milliseconds. */
interface Round {
  readonly bare: number;
  readonly before: number;
  readonly after: number;
}

/** Measures what a hook costs an agent at each tool use, beside a start of Node that does nothing. */
export async function hooks(): Promise<Report> {
  const home = mkdtempSync(join(tmpdir(), 'tally-hooks-'));
  const socket = join(home, 'bench.sock');
  const recorder = spawn(process.execPath, [TALLY, 'hooks', 'recorder', '--socket', socket], {
    env: { ...process.env, TALLY_HOME: home },
    stdio: 'ignore',
  });
  try {
    while (!existsSync(socket)) await sleep(20);
    const rounds: Round[] = [];
    // The first round warms up.
    for (let round = -1; round < ROUNDS; round++) {
      const measured = measure(home, socket, round);
      if (round >= 0) rounds.push(measured);
    }
    return {
      title: 'A hook of a coding agent, from its start to its end',
      method: `${ROUNDS} rounds of ${RUNS} runs each, in turn: medians. The recorder runs, keeps the session in a file, and flushes it before the hook after a tool ends.`,
      rows: [
        row(rounds, 'node -e 0', 'ms', ({ bare }) => bare),
        row(rounds, 'hook before a tool', 'ms', ({ before }) => before),
        row(rounds, 'hook after a tool, with its receipt', 'ms', ({ after }) => after),
        row(rounds, 'hook before / node -e 0', '', ({ before, bare }) => before / bare, { at_most: 2 }),
        row(rounds, 'hook after / node -e 0', '', ({ after, bare }) => after / bare, { at_most: 2 }),
      ],
    };
  } finally {
    recorder.kill('SIGTERM');
    await once(recorder, 'close');
    rmSync(home, { recursive: true, force: true });
  }
}

function measure(home: string, socket: string, round: number): Round {
  const times: Record<keyof Round, number[]> = { bare: [], before: [], after: [] };
  const hook = [HOOK, 'claude-code', '--home', home, '--socket', socket];
  for (let run = 0; run < RUNS; run++) {
    const call = { tool_name: 'Bash', tool_use_id: `${round}-${run}`, tool_input: { command: 'true' } };
    const event = (name: string, more: object = {}): string =>
      JSON.stringify({ hook_event_name: name, session_id: 'bench', ...call, ...more });
    times.bare.push(timed(['-e', '0'], ''));
    times.before.push(timed(hook, event('PreToolUse')));
    times.after.push(
      timed(hook, event('PostToolUse', { tool_response: { stdout: 'a line\n'.repeat(100) } })),
    );
  }
  return { bare: median(times.bare), before: median(times.before), after: median(times.after) };
}

/** Runs Node with arguments. Returns the milliseconds. @throws Error if it complains */
function timed(args: readonly string[], input: string): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { input, encoding: 'utf8' });
  const time = performance.now() - start;
  if (status !== 0 || stderr !== '') throw new Error(`node ${args.join(' ')}: ${stderr}`);
  return time;
}
