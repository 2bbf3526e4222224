import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const SERVER_CORE = '0';
export const LOAD_CORE = '1';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Moves this process, which makes the load, away from the server's core. */
export function moveToLoadCore(): void {
  spawnSync('taskset', ['-cp', LOAD_CORE, String(process.pid)]);
}

/** Moves processes, with all their threads, to cores. */
export function move(cores: string, ...pids: readonly (number | undefined)[]): void {
  for (const pid of pids) execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' });
}

/** Arguments of Node for what `npm start` runs, as in the first line of the command. */
export const SERVE = [
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  'packages/cli/bin/tally.js',
  'serve',
];
const SERVE_ENV = { MALLOC_ARENA_MAX: '1' };

/** Starts a Node process on a core, the server's unless another is named. */
export function pinned(
  args: readonly string[],
  env: Record<string, string>,
  core: string = SERVER_CORE,
): ChildProcess {
  return spawn('taskset', ['-c', core, process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, ...(args === SERVE && SERVE_ENV), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

function lines(child: ChildProcess): Interface {
  if (child.stdout === null) throw new Error('The child has no output to read.');
  return createInterface({ input: child.stdout });
}

/** Waits for the URL that a server prints when it is ready. */
export async function readyUrl(server: ChildProcess): Promise<string> {
  for await (const line of lines(server)) {
    const url = /ready on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The server ended before it was ready.');
}

export type Ask = <T>(command: object) => Promise<T>;

/** Returns a function that sends JSON to a child as one line, and resolves to the line that it answers. */
export function asker(child: ChildProcess): Ask {
  const answers = lines(child)[Symbol.asyncIterator]();
  return async <T>(command: object) => {
    child.stdin?.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error('The child that measures the limits ended.');
    return JSON.parse(value) as T;
  };
}

/** Ends children that this process started. */
export async function stop(...children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map(ended));
}

function ended(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));
}

/** Memory of a process in MB (10^6 bytes): what is resident now, or the most that ever was. */
export function memory({ pid }: { readonly pid?: number | undefined }, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
}

/** CPU time in seconds that a process has used. */
export function cpuSeconds({ pid }: { readonly pid?: number | undefined }): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name at the beginning may hold spaces; ticks are 10 ms on every Linux.
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12);
  return (Number(user) + Number(system)) / 100;
}

/** CPU time in seconds that all processes have used, on all cores. */
export function allCpuSeconds(): number {
  const [user, nice, system] = (/^cpu +(.*)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '').split(' ');
  return (Number(user) + Number(nice) + Number(system)) / 100;
}

/** Processes that a process has started. */
export function childrenOf(parent: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}
