import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callRpc } from '../../server/test/anvil.ts';
import { type Devnet, startDevnet } from './devnet.ts';

const ADDRESS = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';
const ETHER = 10n ** 18n;
const logger = pino({ level: 'silent' });
const WAIT = { timeout: 60_000, interval: 10 };

let dataDir: string;
let devnet: Devnet | undefined;
let children: ChildProcess[];

const anvilPid = () => Number(readFileSync(join(dataDir, 'devnet', 'anvil.pid'), 'utf8'));
const start = async (waitMs?: number): Promise<Devnet> => {
  devnet = await startDevnet({
    dataDir,
    chainId: 31_337,
    logger,
    ...(waitMs === undefined ? {} : { waitMs }),
  });
  return devnet;
};

function isRunning(pid: number): boolean {
  try {
    // A process that has ended and that nobody has waited for keeps its place, without a command line.
    return process.kill(pid, 0) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** Another process with the same folder; answers its chain's address. */
async function startInProcess(): Promise<{ child: ChildProcess; rpcUrl: string }> {
  const script = fileURLToPath(new URL('../../server/test/devnet-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const [rpcUrl] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, rpcUrl: String(rpcUrl) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end();
  await once(child, 'close');
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tally-devnet-'));
  devnet = undefined;
  children = [];
});

afterEach(async () => {
  await Promise.all(children.map(end));
  await devnet?.stop();
  rmSync(dataDir, { recursive: true });
});

describe('the development chain', () => {
  it('goes on where it was stopped', async () => {
    const first = await start();
    expect(readFileSync(join(dataDir, 'devnet/rpc-url'), 'utf8')).toBe(`${first.rpcUrl}\n`);
    await first.fund(ADDRESS, ETHER);
    await callRpc(first.rpcUrl, 'anvil_mine', ['0x3']);
    const block = await callRpc(first.rpcUrl, 'eth_getBlockByNumber', ['0x3', false]);
    await first.stop();
    expect(isRunning(anvilPid())).toBe(false);

    const second = await start();
    expect(await callRpc(second.rpcUrl, 'eth_getBlockByNumber', ['latest', false])).toEqual(block);
    expect(await callRpc(second.rpcUrl, 'eth_getBalance', [ADDRESS, 'latest'])).toBe(
      `0x${ETHER.toString(16)}`,
    );
    await second.fund(ADDRESS, 1n);
    expect(await callRpc(second.rpcUrl, 'eth_getBalance', [ADDRESS, 'latest'])).toBe(
      `0x${ETHER.toString(16)}`,
    );
  });

  it('is started again at its address when it is killed, and has lost no block that anybody was told of', async () => {
    const chain = await start();
    const { rpcUrl } = chain;
    const pid = anvilPid();
    await chain.fund(ADDRESS, ETHER);
    await callRpc(rpcUrl, 'evm_mine', []);
    const block = await callRpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(chain.state()).toMatch(/stopped and is being restarted/), WAIT);
    await vi.waitFor(() => expect(chain.state()).toBe('ok'), WAIT);
    expect(anvilPid()).not.toBe(pid);
    expect(await callRpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false])).toEqual(block);
    expect(await callRpc(rpcUrl, 'eth_getBalance', [ADDRESS, 'latest'])).toBe(`0x${ETHER.toString(16)}`);
  });

  it('is saved and ends when its process is killed, and the next one waits for that', async () => {
    const { child, rpcUrl } = await startInProcess();
    await callRpc(rpcUrl, 'anvil_mine', ['0x5']);
    const pid = anvilPid();
    child.kill('SIGKILL');
    const next = await start();
    expect(isRunning(pid)).toBe(false);
    expect(await callRpc(next.rpcUrl, 'eth_blockNumber', [])).toBe('0x5');
  });

  it('is not given to two processes', async () => {
    await startInProcess();
    await expect(start(300)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it.skipIf(!existsSync('/proc/self/stat'))('gets another guard when its guard is killed', async () => {
    const chain = await start();
    const { rpcUrl } = chain;
    await callRpc(rpcUrl, 'anvil_mine', ['0x3']);
    const orphan = anvilPid();
    const guard = Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${orphan}/stat`, 'utf8'))?.[1]);
    process.kill(guard, 'SIGKILL');
    await vi.waitFor(() => expect(chain.state()).toMatch(/stopped and is being restarted/), WAIT);
    await vi.waitFor(() => expect(chain.state()).toBe('ok'), WAIT);
    expect(isRunning(orphan)).toBe(false);
    expect(await callRpc(rpcUrl, 'eth_blockNumber', [])).toBe('0x3');
  });

  it.skipIf(!existsSync('/proc/self/stat'))('does not outlive its guard for long', async () => {
    const first = await start();
    const orphan = anvilPid();
    const guard = Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${orphan}/stat`, 'utf8'))?.[1]);
    process.kill(guard, 'SIGKILL');
    await first.stop();
    const second = await start();
    expect(isRunning(orphan)).toBe(false);
    expect(await callRpc(second.rpcUrl, 'eth_blockNumber', [])).toBe('0x0');
  });

  it('leaves alone the process that was given the number of an earlier chain', async () => {
    await (await start()).stop();
    writeFileSync(join(dataDir, 'devnet', 'anvil.pid'), String(process.pid));
    await expect(start()).resolves.toBeDefined();
  });
});
