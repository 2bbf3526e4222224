import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { type DevnetProxy, openDevnetProxy } from './devnet-proxy.ts';

// Keeps a development chain for as long as standard input stays open: the process that started this holds the other
// end, so the end of that process, kill -9 included, is seen here. Its signals do not come this far, since this runs in
// a session of its own. A chain that ends by itself, or stops answering, is started again from what was saved. The first
// line of standard output is the chain's address, which stays; then come `down` and `up`.

const POLL_MS = 250;
const LOCK_RETRY_MS = 50;
const RPC_TIMEOUT_MS = 10_000;
const RESTART_MS = 500;

/** The port is 0 for any free one. */
const [anvil = '', folder = '', chainId = '', port = '0'] = process.argv.slice(2);
const statePath = join(folder, 'state.json');
const pidPath = join(folder, 'anvil.pid');
const cachePath = join(folder, 'cache');

const abandoned = new AbortController();
const { signal: end } = abandoned;
const leave = () => abandoned.abort();
process.stdin.resume().once('close', leave).once('error', leave);
process.stdout.once('error', leave);
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, leave);

/** Waits, but not longer than until this process has to end. */
async function pause(ms: number): Promise<void> {
  await setTimeout(ms, undefined, { signal: end }).catch(() => {});
}

/** Waits until an earlier guard of the folder has ended. The lock goes with its process, however that ends. */
async function lock(): Promise<DatabaseSync | null> {
  const database = new DatabaseSync(join(folder, 'lock'));
  while (!end.aborted) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return database;
    } catch {
      await pause(LOCK_RETRY_MS);
    }
  }
  return null;
}

/** Ends the chain that a guard left behind when it was itself killed; it has nothing that was not saved. */
async function endOrphan(): Promise<void> {
  if (!existsSync(pidPath)) return;
  const pid = Number(readFileSync(pidPath, 'utf8'));
  while (commandOf(pid).includes(cachePath)) {
    process.kill(pid, 'SIGKILL');
    await pause(LOCK_RETRY_MS);
  }
}

function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

function start(): ChildProcess {
  const load = existsSync(statePath) ? ['--load-state', statePath] : [];
  const child = spawn(
    anvil,
    [
      '--host',
      '127.0.0.1',
      '--port',
      '0',
      '--chain-id',
      chainId,
      '--accounts',
      '0',
      '--no-cors',
      '--prune-history',
    ].concat(['--cache-path', cachePath], load),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  writeFileSync(pidPath, String(child.pid));
  return child;
}

/** The port that the chain listens on; null when the chain ends before it listens. */
function portOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    let text = '';
    child.once('close', () => resolve(null)).once('error', () => resolve(null));
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      // Later output is read and dropped, because a full pipe would stop the chain.
      if (text.length > 65_536) return;
      text += chunk;
      const port = /^Listening on 127\.0\.0\.1:(\d+)$/m.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

function rpc(chainPort: number, method: string, params: readonly unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: chainPort, method: 'POST', timeout: RPC_TIMEOUT_MS };
    const headers = { 'content-type': 'application/json' };
    const call = request({ ...options, headers }, (response) => {
      json(response).then((answer) => resolve((answer as { result?: unknown }).result), reject);
    });
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', reject);
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

/** Saves the chain's state to a new file first: Anvil writes in place, and a crash in between would leave half a file. */
async function save(chainPort: number): Promise<void> {
  const dump = await rpc(chainPort, 'anvil_dumpState', []);
  if (typeof dump !== 'string') throw new TypeError('No state.');
  const temporary = `${statePath}.new`;
  const state = gunzipSync(Buffer.from(dump.slice(2), 'hex'));
  writeFileSync(temporary, state, { flush: true, mode: 0o600 });
  renameSync(temporary, statePath);
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

async function newestBlock(chainPort: number): Promise<unknown> {
  const block = await rpc(chainPort, 'eth_getBlockByNumber', ['latest', false]);
  return typeof block === 'object' && block !== null && 'hash' in block ? block.hash : null;
}

let saving: Promise<void> = Promise.resolve();
/** The newest block that was saved. */
let saved: unknown = null;

/** Saves the chain if it has a new block or has `changed` otherwise. Saves run one after the other. */
function saveNew(chainPort: number, changed: boolean): Promise<void> {
  const next = saving.then(() => saveNow(chainPort, changed));
  saving = next.catch(() => {});
  return next;
}

async function saveNow(chainPort: number, changed: boolean): Promise<void> {
  const newest = await newestBlock(chainPort);
  if (!changed && newest === saved) return;
  await save(chainPort);
  saved = newest;
}

/** Saves blocks that no request has caused, and saves once more at the end. */
async function keep(chainPort: number): Promise<void> {
  while (!end.aborted) {
    await saveNew(chainPort, false);
    await pause(POLL_MS);
  }
  await saveNew(chainPort, true);
}

/** Runs the chain once. Resolves when this process has to end; rejects when the chain has ended or does not answer. */
async function runChain(proxy: DevnetProxy, onUp: () => void): Promise<void> {
  const child = start();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const chainPort = await portOf(child);
    if (chainPort === null) throw new Error('The chain did not start.');
    proxy.chainPort = chainPort;
    onUp();
    await keep(chainPort);
  } finally {
    proxy.chainPort = null;
    child.kill('SIGKILL');
    await ended;
  }
}

async function main(): Promise<void> {
  const held = await lock();
  if (held === null) return;
  await endOrphan();
  const proxy = await openDevnetProxy(Number(port), saveNew);
  let line = `http://127.0.0.1:${proxy.port}`;
  const onUp = (): void => {
    process.stdout.write(`${line}\n`);
    line = 'up';
  };
  try {
    while (!end.aborted) {
      await runChain(proxy, onUp).catch((error: unknown) => {
        // A chain that has never run is not started again, so that the error is reported.
        if (line !== 'up') throw error;
        process.stdout.write('down\n');
      });
      if (!end.aborted) await pause(RESTART_MS);
    }
  } finally {
    proxy.close();
    held.close();
  }
}

await main().then(
  () => process.exit(0),
  () => process.exit(1),
);
