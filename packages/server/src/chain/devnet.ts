import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
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
  /** Gives an account a balance of at least `wei`. */
  fund(address: string, wei: bigint): Promise<void>;
  /** Saves the chain and ends it. */
  stop(): Promise<void>;
}

export interface DevnetOptions {
  /** The chain is kept in its folder `devnet`; while it runs, its address is there in `rpc-url`. */
  readonly dataDir: string;
  readonly chainId: number;
  readonly logger: Logger;
  /** How long a chain of the same folder that still runs is waited for. */
  readonly waitMs?: number;
}

const RPC_TIMEOUT_MS = 5000;
const WAIT_MS = 30_000;
const GUARD = `./devnet-guard${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;

/**
 * Starts the chain of a data directory where it was left. It is saved within a second of each block and at the end, and
 * ends with this process, however that ends.
 * @throws chain_unavailable when Anvil is not installed or does not start, or another process keeps using the chain
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { dataDir, chainId, logger, waitMs = WAIT_MS } = options;
  const folder = resolve(dataDir, 'devnet');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const guard = spawn(
    process.execPath,
    [fileURLToPath(new URL(GUARD, import.meta.url)), anvilPath(), folder, String(chainId)],
    // A session of its own keeps the terminal's Ctrl-C from the chain, which the drain may still need.
    { stdio: ['pipe', 'pipe', 'ignore'], detached: true },
  );
  // Neither the guard nor its pipes keep this process from ending, and a guard that has ended breaks no write to it.
  guard.unref();
  for (const pipe of [guard.stdin, guard.stdout]) if (pipe instanceof Socket) pipe.unref();
  guard.stdin.on('error', () => {});
  const ended = new Promise<void>((done) => guard.once('close', () => done()));
  const stop = async (): Promise<void> => {
    guard.ref();
    guard.stdin.end();
    await ended;
  };
  const rpcUrl = await firstLine(guard, waitMs);
  if (rpcUrl === null) {
    await stop();
    throw new TallyError(
      'chain_unavailable',
      `The development chain in ${folder} did not start. Does another process use it?`,
    );
  }
  writeFileSync(resolve(folder, 'rpc-url'), `${rpcUrl}\n`);
  let stopping = false;
  guard.once('exit', () => {
    if (!stopping) logger.error('The development chain has ended; postings wait until a restart.');
  });
  return {
    rpcUrl,
    fund: (address, wei) => fund(rpcUrl, address, wei),
    stop: () => {
      stopping = true;
      return stop();
    },
  };
}

function firstLine(guard: ChildProcess, waitMs: number): Promise<string | null> {
  const { stdout } = guard;
  if (stdout === null) return Promise.resolve(null);
  return new Promise((done) => {
    const timer = setTimeout(() => done(null), waitMs);
    guard.once('error', () => done(null));
    createInterface({ input: stdout })
      .once('line', done)
      .once('close', () => done(null))
      .on('close', () => clearTimeout(timer))
      .on('line', () => clearTimeout(timer));
  });
}

async function fund(rpcUrl: string, address: string, wei: bigint): Promise<void> {
  const rpc = openRpc(rpcUrl, RPC_TIMEOUT_MS);
  const balance = await rpc.call('eth_getBalance', [address, 'latest'], answers.quantity);
  if (balance < wei) await rpc.call('anvil_setBalance', [address, numberToHex(wei)], z.unknown());
}
