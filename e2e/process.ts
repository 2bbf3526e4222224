import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BALANCED, BALANCER, type Balancer, startBalancer } from '../packages/server/test/balancer.ts';
import { afterEachFile } from '../scripts/end-of-file.ts';

/** The program `tally` of this tree. */
export const TALLY = fileURLToPath(new URL('../packages/cli/bin/tally.js', import.meta.url));
const READY = /^tallystick is ready on (\S+)$/m;

export type Env = Readonly<Record<string, string>>;

/** How a process ended, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `tally serve` in a process of its own, after it has become ready. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

const running = new Set<Running>();
const balancers = new Set<Balancer>();
const folders: string[] = [];

afterEachFile(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
  await Promise.all([...balancers].map((balancer) => balancer.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is deleted after the file's last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-e2e-'));
  folders.push(folder);
  return folder;
}

function start(
  args: readonly string[],
  env: Env,
  onOutput: (stdout: string) => void = () => {},
  stderrTo: number | 'pipe' = 'pipe',
  program = TALLY,
): Running {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', stderrTo] });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    onOutput(stdout);
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(started);
      resolve({ code, signal, stdout, stderr });
    });
  });
  const started = { child, ended };
  running.add(started);
  return started;
}

/**
 * Runs `tally` to its end, in an environment of nothing but `env`.
 * @param program the path of another release's `tally.js`
 */
export function tally(args: readonly string[], env: Env = {}, program = TALLY): Promise<Ended> {
  return start(args, env, undefined, 'pipe', program).ended;
}

/** `TALLY_TEST_WORKERS=3` has every service that is tested serve with three processes. */
const workers = (): Env => {
  const { TALLY_TEST_WORKERS: count } = process.env;
  return count === undefined ? {} : { TALLY_WORKERS: count };
};

/**
 * Starts `tally serve` on a free port. Rejects with what it said when it ends before it is ready.
 *
 * With `TALLY_TEST_BALANCER`, three processes serve behind a balancer. One process serves alone if the test itself says where it
 * listens, how many workers it has, or that it takes payments: with the development chain, only the process that started it can.
 * @param stderrTo a file descriptor that takes its standard error, which is then not in `Ended`
 * @param program the path of another release's `tally.js`
 */
export function serve(env: Env, stderrTo: number | 'pipe' = 'pipe', program = TALLY): Promise<Served> {
  const alone = ['HOST', 'PORT', 'TALLY_WORKERS', 'TALLY_PAYMENTS'].some((name) => name in env);
  if (BALANCER === undefined || alone || stderrTo !== 'pipe' || program !== TALLY)
    return serveAlone(env, stderrTo, program);
  return serveBalanced(env, BALANCER);
}

function serveAlone(env: Env, stderrTo: number | 'pipe' = 'pipe', program = TALLY): Promise<Served> {
  return new Promise((resolve, reject) => {
    const onOutput = (stdout: string): void => {
      const url = READY.exec(stdout)?.[1];
      if (url === undefined || child.pid === undefined) return;
      resolve({
        url,
        pid: child.pid,
        kill: (signal) => {
          child.kill(signal);
          return ended;
        },
      });
    };
    const { child, ended } = start(
      ['serve'],
      { PORT: '0', TALLY_LOG_LEVEL: 'error', ...workers(), ...env },
      onOutput,
      stderrTo,
      program,
    );
    void ended.then(({ stdout, stderr }) => reject(new Error(`tally serve ended: ${stdout}${stderr}`)));
  });
}

/** Its `pid` is that of the first process; a signal reaches all, and `Ended` has the output of all. */
async function serveBalanced(env: Env, program: string): Promise<Served> {
  const folder = temporaryFolder();
  const sockets = Array.from({ length: BALANCED }, (_, index) => join(folder, `${index}`));
  const balancer = await startBalancer(program, sockets, folder);
  balancers.add(balancer);
  const { url } = balancer;
  const addresses = { TALLY_RECEIPTS_URL: url, TALLY_API_URL: url, TALLY_SITE_URL: url };
  const all: Env = { TALLY_TRUSTED_PROXIES: 'unix', ...addresses, ...env };
  const serveAt = (path: string, more: Env = {}) => serveAlone({ ...all, ...more, HOST: `unix:${path}` });
  const [path = '', ...others] = sockets;
  // It makes the keys and tables, and starts the development chain.
  const first = await serveAt(path);
  const rpcUrl = join(env['TALLY_DATA_DIR'] ?? '', 'devnet', 'rpc-url');
  const chain: Env =
    env['TALLY_DEVNET'] !== 'off' && existsSync(rpcUrl)
      ? { TALLY_DEVNET: 'off', TALLY_CHAIN_RPC_URL: readFileSync(rpcUrl, 'utf8').trim() }
      : {};
  const processes = [first, ...(await Promise.all(others.map((path) => serveAt(path, chain))))];
  return {
    url,
    pid: first.pid,
    async kill(signal) {
      const ended = await Promise.all(processes.map((served) => served.kill(signal)));
      await balancer.close();
      balancers.delete(balancer);
      const failed = ended.find(({ code }) => code !== 0) ?? ended[0];
      return {
        code: failed?.code ?? null,
        signal: failed?.signal ?? null,
        stdout: ended.map(({ stdout }) => stdout).join(''),
        stderr: ended.map(({ stderr }) => stderr).join(''),
      };
    },
  };
}

/** A connection of its own: one that is kept may be closed by the server just as the next request is sent. */
export const ALONE = { connection: 'close' };

/** Sends a POST of JSON. Rejects when the connection breaks. */
export async function post(
  url: string,
  body: unknown,
  headers: Env = {},
  signal: AbortSignal | null = null,
): Promise<{ status: number; text: string }> {
  const init = { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), signal };
  const response = await fetch(url, {
    ...init,
    headers: { ...ALONE, 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

/** Resident memory of a process in MiB, as Linux counts it. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}
