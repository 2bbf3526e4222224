#!/usr/bin/env node
// Hands one event of a coding agent (standard input) over to the recorder, which it starts if none runs. It imports nothing but Node's own
// modules, because the agent waits for it at each tool call. Whatever goes wrong, it ends with 0 and prints nothing to standard
// output: the agent goes on, and the next hook hands over what this one could not.
//
//   tally-hook.js <agent> --home <folder> [--socket <path>] [--service <url>]
//
// --home is the folder of the recorder's socket, and of events that were not handed over. With --socket somebody else runs the recorder.
import { appendFileSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

/** How long the agent waits at most, in milliseconds. The settings give the hook a little longer. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 20;

const [agent = '', ...rest] = process.argv.slice(2);
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const home = option('--home') ?? '';
const given = option('--socket');
const socket = given ?? recorderSocket(home);
const lost = join(home, 'hooks-lost.jsonl');

const event = readFileSync(0, 'utf8');
const service = option('--service') ?? process.env.ANTHROPIC_BASE_URL ?? null;
let lines = [...takeLost(), JSON.stringify({ agent, service, event })];
try {
  await handOver();
} catch (error) {
  keep(error);
}

/** Where the recorder of a folder listens: `socketOf` of src/hooks/recorder.ts says the same. */
function recorderSocket(folder) {
  const pipe = folder.replaceAll(/[^\w.-]/g, '-');
  return process.platform === 'win32' ? `\\\\.\\pipe\\tally-hooks-${pipe}` : join(folder, 'hooks.sock');
}

async function handOver() {
  const deadline = Date.now() + PATIENCE_MS;
  for (let started = given !== undefined; ; ) {
    try {
      return await say(deadline - Date.now());
    } catch (error) {
      const isAlone = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      if (!isAlone || given !== undefined || Date.now() > deadline) throw error;
      if (!started) await startRecorder();
      started = true;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Resolves when the recorder has written down what there was to write. Its answer begins with the number of lines that it needs no more. */
function say(patience) {
  return new Promise((resolve, reject) => {
    let answer = '';
    const connection = connect(socket, () => connection.end(`${lines.join('\n')}\n`));
    connection.setTimeout(Math.max(1, patience), () =>
      connection.destroy(new Error('the recorder did not answer')),
    );
    connection.setEncoding('utf8').on('data', (piece) => {
      answer += piece;
    });
    connection.on('error', reject);
    connection.on('close', () => {
      const [, done, said] = /^(\d+) (.*)\n$/.exec(answer) ?? [null, 0, 'the recorder ended'];
      lines = lines.slice(Number(done));
      if (said === 'ok') resolve();
      else reject(new Error(said));
    });
  });
}

async function startRecorder() {
  const { spawn } = await import('node:child_process');
  const { mkdirSync, openSync } = await import('node:fs');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const log = openSync(join(home, 'hooks.log'), 'a', 0o600);
  const tally = join(import.meta.dirname, 'tally.js');
  spawn(process.execPath, [tally, 'hooks', 'recorder'], {
    detached: true,
    stdio: ['ignore', 'ignore', log],
    env: { ...process.env, TALLY_HOME: home },
    cwd: home,
  }).unref();
}

/** What earlier hooks could not hand over, in their order. It is this hook's to hand over from here on. */
function takeLost() {
  const mine = `${lost}.${process.pid}`;
  try {
    renameSync(lost, mine);
  } catch {
    return [];
  }
  const text = readFileSync(mine, 'utf8');
  rmSync(mine);
  return text.split('\n').slice(0, -1);
}

function keep(error) {
  try {
    appendFileSync(lost, `${lines.join('\n')}\n`, { mode: 0o600 });
    process.stderr.write(`tally-hook: not recorded yet (${error.message}). The next hook tries again.\n`);
  } catch (failure) {
    process.stderr.write(`tally-hook: not recorded (${error.message}), and not kept: ${failure.message}\n`);
  }
}
