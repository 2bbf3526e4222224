import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** Names the folder of a run in the environment of its test processes. */
const RUN = 'TALLY_TEST_RUN';
/** Milliseconds between two checks whether a server has ended. */
const LOOK_MS = 20;

/** Begins a run of tests, whose PostgreSQL servers live until it ends. */
export function beginRun(): void {
  const run = mkdtempSync(join(tmpdir(), 'tally-tests-'));
  // As root, the servers run as another user.
  chmodSync(run, 0o755);
  process.env[RUN] = run;
}

/** A new folder for the data of a server that lives until the run ends. */
export function serverFolder(): string {
  return mkdtempSync(join(process.env[RUN] ?? tmpdir(), 'postgres-'));
}

/** Stops the servers and removes their data. A test process may have ended without stopping its own. */
export async function endRun(): Promise<void> {
  const run = process.env[RUN];
  if (run === undefined) return;
  const servers = readdirSync(run)
    .map((name) => join(run, name, 'postmaster.pid'))
    .filter(existsSync)
    .map((file) => Number(readFileSync(file, 'utf8').split('\n')[0]));
  for (const server of servers) isSent(server, 'SIGINT');
  for (const server of servers) while (isSent(server, 0)) await setTimeout(LOOK_MS);
  rmSync(run, { recursive: true, force: true });
}

/** Sends a signal to a process, or none for 0, and returns whether that process exists. */
function isSent(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
