import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import { numberToHex } from 'viem/utils';
import { z } from 'zod';
import * as answers from './answers.ts';
import { anvilPath } from './anvil.ts';
import { openRpc } from './rpc.ts';

/** The development chain: an Anvil on a free loopback port, one block for each transaction. */
export interface Devnet {
  readonly rpcUrl: string;
  /** `ok`, or that the chain has ended and is being started again. */
  state(): string;
  /** Gives an account a balance of at least `wei`. */
  fund(address: string, wei: bigint): Promise<void>;
  /** Saves the chain and ends it. */
  stop(): Promise<void>;
}

export interface DevnetOptions {
  /** Data directory: the chain is saved in its folder `devnet`, which holds the chain's address in `rpc-url` while it runs. */
  readonly dataDir: string;
  readonly chainId: number;
  readonly logger: Logger;
  /** Milliseconds to wait for another process to stop using the chain of the same folder. */
  readonly waitMs?: number;
}

const RPC_TIMEOUT_MS = 5000;
const WAIT_MS = 30_000;
const RESTART_MS = 1_000;
const GUARD = `./devnet-guard${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;

/**
 * Starts the chain of a data directory from what was saved. The chain saves before it answers, and ends with this process,
 * however that ends. A chain that ends earlier is started again at the same address, in the same state.
 * @throws chain_unavailable when Anvil is not installed or does not start, or another process keeps using the chain
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { dataDir, chainId, logger, waitMs = WAIT_MS } = options;
  const folder = resolve(dataDir, 'devnet');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let up = true;
  let stopping = false;
  const onLine = (line: string): void => {
    const wasUp = up;
    up = line !== 'down';
    if (up === wasUp) return;
    if (up) logger.warn('The development chain is running again.');
    else logger.error('The development chain stopped and is being restarted.');
  };
  const startGuard = (port: string): Promise<Guard | null> =>
    launch([anvilPath(), folder, String(chainId), port], waitMs, onLine);

  let guard = await startGuard('0');
  if (guard === null) {
    throw new TallyError(
      'chain_unavailable',
      `The development chain in ${folder} did not start. Is another process using it?`,
    );
  }
  const { rpcUrl } = guard;
  writeFileSync(resolve(folder, 'rpc-url'), `${rpcUrl}\n`);
  const guarding = (async () => {
    for (;;) {
      await guard?.ended;
      if (stopping) return;
      onLine('down');
      await sleep(RESTART_MS, undefined, { ref: false });
      if (stopping) return;
      guard = await startGuard(new URL(rpcUrl).port).catch((error: unknown) => {
        logger.error({ err: error }, 'the development chain could not be restarted');
        return null;
      });
      if (stopping) return guard?.stop();
      if (guard !== null) onLine('up');
    }
  })();
  return {
    rpcUrl,
    state: () => (up ? 'ok' : 'The development chain stopped and is being restarted.'),
    fund: (address, wei) => fund(rpcUrl, address, wei),
    stop: async () => {
      stopping = true;
      await guard?.stop();
      await guarding;
    },
  };
}

/** The process that keeps the chain. */
interface Guard {
  readonly rpcUrl: string;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Starts the guard; null when it prints no address in time. @param onLine called with each line after the address */
async function launch(
  args: readonly string[],
  waitMs: number,
  onLine: (line: string) => void,
): Promise<Guard | null> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL(GUARD, import.meta.url)), ...args],
    // In a session of its own, the chain does not get the terminal's Ctrl-C: the server may still need it while it closes.
    { stdio: ['pipe', 'pipe', 'ignore'], detached: true },
  );
  // Neither the guard nor its pipes keep this process from ending; a write to a guard that has ended is not an error.
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) if (pipe instanceof Socket) pipe.unref();
  child.stdin.on('error', () => {});
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const stop = async (): Promise<void> => {
    child.ref();
    child.stdin.end();
    await ended;
  };
  const rpcUrl = await firstLine(child, waitMs, onLine);
  if (rpcUrl !== null) return { rpcUrl, ended, stop };
  await stop();
  return null;
}

function firstLine(
  child: ChildProcess,
  waitMs: number,
  onLine: (line: string) => void,
): Promise<string | null> {
  const { stdout } = child;
  if (stdout === null) return Promise.resolve(null);
  return new Promise((done) => {
    const lines = createInterface({ input: stdout });
    const resolveReady = (line: string | null): void => {
      clearTimeout(timer);
      done(line);
    };
    const timer = setTimeout(resolveReady, waitMs, null);
    child.once('error', () => resolveReady(null));
    lines.once('line', (line) => {
      resolveReady(line);
      lines.on('line', onLine);
    });
    lines.once('close', () => resolveReady(null));
  });
}

async function fund(rpcUrl: string, address: string, wei: bigint): Promise<void> {
  const rpc = openRpc(rpcUrl, RPC_TIMEOUT_MS);
  const balance = await rpc.call('eth_getBalance', [address, 'latest'], answers.quantity);
  if (balance < wei) await rpc.call('anvil_setBalance', [address, numberToHex(wei)], z.unknown());
}
