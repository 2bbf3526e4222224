import type { ChildProcess } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median } from './machine.ts';
import { moveToLoadCore, pinned, stop } from './processes.ts';
import type { Report } from './report.ts';

const ROUNDS = 5;
const CALLS = 400;
const SERVER = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
/** A proxy that does nothing: it passes the bytes of both sides. */
const PIPE = `const { spawn } = require('node:child_process');
const child = spawn(process.execPath, process.argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin); child.stdout.pipe(process.stdout);`;

/** Measures what a call of a tool takes through `tally mcp wrap`, beside the same server bare and a proxy that only passes bytes. */
export async function mcpWrap(): Promise<Report> {
  moveToLoadCore();
  const home = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const wrap = ['packages/cli/bin/tally.js', 'mcp', 'wrap', '--', process.execPath, SERVER];
  const started: Readonly<Record<string, ChildProcess>> = {
    bare: pinned([SERVER], {}),
    piped: pinned(['-e', PIPE, '--', SERVER], {}),
    wrapped: pinned(wrap, { TALLY_HOME: home }),
  };
  try {
    const callers = new Map<string, Ask>();
    for (const [name, child] of Object.entries(started)) callers.set(name, await greeted(child));
    const times = new Map(Object.keys(started).map((name): [string, number[]] => [name, []]));
    const flushes: number[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      for (const [name, ask] of callers) {
        const time = await middleOf(ask);
        // The first round warms up.
        if (round >= 0) times.get(name)?.push(time);
      }
      if (round >= 0) flushes.push(flushTime(join(home, 'flushed')));
    }
    const [bare = [], piped = [], wrapped = []] = times.values();
    const over = (before: readonly number[]): number[] =>
      wrapped.map((time, round) => time - (before[round] ?? Number.NaN));
    const cost = over(bare);
    const ownCost = over(piped);
    return {
      title: 'Calls of a tool of the reference server “everything” over stdio, one after the other, own key',
      method: `Medians of ${ROUNDS} rounds of ${CALLS} calls, the three in turn; each round is the median of its calls.`,
      rows: [
        { name: 'the bare server', value: median(bare), unit: 'ms', rounds: bare },
        { name: 'behind a proxy that only passes bytes', value: median(piped), unit: 'ms', rounds: piped },
        { name: 'behind tally mcp wrap', value: median(wrapped), unit: 'ms', rounds: wrapped },
        { name: 'cost of a call', value: median(cost), unit: 'ms', aim: { at_most: 1 }, rounds: cost },
        { name: 'of it, more than passing bytes', value: median(ownCost), unit: 'ms', rounds: ownCost },
        {
          name: 'a receipt’s bytes written and flushed',
          value: median(flushes),
          unit: 'ms',
          rounds: flushes,
        },
      ],
    };
  } finally {
    await stop(...Object.values(started));
    rmSync(home, { recursive: true, force: true });
  }
}

/** Sends a request, and resolves when its answer is there. */
type Ask = (id: number, method: string, params: object) => Promise<void>;

async function greeted(child: ChildProcess): Promise<Ask> {
  if (child.stdin === null || child.stdout === null) throw new Error('The server has no input or output.');
  const { stdin } = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask: Ask = async (id, method, params) => {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('The server ended.');
      // The server also says by itself that its list of tools has changed.
      if ((JSON.parse(value) as { id?: number }).id === id) return;
    }
  };
  const clientInfo = { name: 'bench', version: '1' };
  await ask(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return ask;
}

/** Milliseconds that the middle one of many calls took. */
async function middleOf(ask: Ask): Promise<number> {
  const times: number[] = [];
  for (let call = 1; call <= CALLS; call++) {
    const start = performance.now();
    await ask(call, 'tools/call', { name: 'echo', arguments: { message: `message ${call}` } });
    times.push(performance.now() - start);
  }
  return median(times);
}

/** Milliseconds in which the middle one of many appended lines of a receipt's size is on the disk. */
function flushTime(path: string): number {
  const file = openSync(path, 'a');
  const line = Buffer.alloc(1_300, 'x');
  const times = Array.from({ length: CALLS }, () => {
    const start = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return median(times);
}
