import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const bin = fileURLToPath(new URL('../bin/tally.js', import.meta.url));

/** The environment without variables that would change the behaviour of tally. */
export const clean = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(?:TALLY_|NO_COLOR|FORCE_COLOR|NODE_ENV|PORT$|HOST$)/.test(name),
  ),
);

export type Env = Readonly<Record<string, string>>;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a process of its own: the real binary unless `command` says otherwise. */
export async function run(
  args: readonly string[],
  {
    env = {},
    input = '',
    command = [process.execPath, bin],
  }: { env?: Env; input?: string | Uint8Array; command?: readonly string[] } = {},
): Promise<Ran> {
  const [file = '', ...first] = command;
  const child = spawn(file, [...first, ...args], { env: { ...clean, ...env }, stdio: 'pipe' });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number | null, stdout, stderr };
}

/** A folder that is deleted after the tests, a home for saved trust in it, and functions that run `tally` with both. */
export function workspace() {
  const folder = mkdtempSync(join(tmpdir(), 'tally-cli-'));
  const at = (name: string): string => join(folder, name);
  return {
    at,
    home: at('home'),
    tally: (args: readonly string[], options: { env?: Env; input?: string | Uint8Array } = {}) =>
      run(args, { ...options, env: { TALLY_HOME: at('home'), ...options.env } }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Service {
  readonly url: string;
  readonly env: Env;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/**
 * `tally serve` on a free port, that of the sources without a chain, unless the environment asks for one. `bin` names another, which
 * starts as its environment says.
 */
export async function serve(
  dataDir: string,
  options: { env?: Env; node?: string; port?: string; bin?: string } = {},
): Promise<Service> {
  const withoutChain = options.bin === undefined ? { TALLY_DEVNET: 'off' } : {};
  const env = { TALLY_DATA_DIR: dataDir, ...withoutChain, ...options.env };
  const child = spawn(options.node ?? process.execPath, [options.bin ?? bin, 'serve'], {
    env: { ...clean, ...env, PORT: options.port ?? '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const url = await readyUrl(child);
  return {
    url,
    env: { ...env, TALLY_URL: url },
    child,
    async stop() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The service has no standard output.');
  for await (const line of createInterface(child.stdout)) {
    const url = /ready on (http:\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The service ended before it was ready.');
}

/** Calls `ask` until the answer is accepted; the test's own timeout ends it. */
export async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
  }
}
