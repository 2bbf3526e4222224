import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ChainReader, createPostingKey, openChainReader, readPostingKey } from '@tallystick/chain';
import { type AnchorTransaction, decodePosting, fromHex, toHex } from '@tallystick/core';
import { openTestChain } from '../packages/server/test/anchoring.ts';
import { startAnvil, type TestAnvil } from '../packages/server/test/anvil.ts';
import { afterEachFile } from '../scripts/end-of-file.ts';
import type { Env } from './process.ts';

/** A root that was posted in a block of the chain. */
interface Posted {
  readonly txHash: string;
  readonly nonce: number;
  readonly size: number;
  /** Hex. */
  readonly root: string;
}

/**
 * Treatment of a request: `refuse` breaks the connection before the chain gets it, `lose` after the chain has
 * answered.
 */
export type Fate = 'pass' | 'refuse' | 'lose';

/** A chain of its own behind a relay, and a posting account with money for gas. */
export interface PostingChain {
  /** Configuration by which a service uses the relay. */
  readonly env: Env;
  readonly anvil: TestAnvil;
  /** Chooses the treatment of each request, by its method; each request waits for it. */
  decide: (method: string) => Fate | Promise<Fate>;
  /** All roots that the account has posted, oldest first. */
  posted(): Promise<Posted[]>;
  /** A transaction as verifiers take it; null if there is none. */
  transaction(txHash: string): Promise<AnchorTransaction | null>;
}

const CHAIN_ID = 31_337;

const stops: (() => Promise<unknown>)[] = [];
afterEachFile(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** @param folder where the posting key is read, or made */
export async function startPostingChain(folder: string): Promise<PostingChain> {
  const anvil = await startAnvil(CHAIN_ID);
  const file = join(folder, 'posting.key');
  createPostingKey(file);
  const { address } = openTestChain({
    rpcUrl: anvil.rpcUrl,
    secretKey: readPostingKey(file),
    finality: { kind: 'confirmations', count: 1 },
  });
  await anvil.rpc('anvil_setBalance', address, '0xde0b6b3a7640000');
  const relay = await startRelay(anvil.rpcUrl, (method) => chain.decide(method));
  stops.push(relay.stop, () => anvil.stop());
  const chain: PostingChain = {
    env: { TALLY_CHAIN_RPC_URL: relay.url, TALLY_POSTING_KEY_FILE: file },
    anvil,
    decide: () => 'pass',
    posted: () => postedBy(anvil, address),
    transaction: (txHash) => transactionOf(anvil, txHash),
  };
  return chain;
}

/** The reader by which an auditor asks a node. */
export function readerOf(rpcUrl: string): Promise<ChainReader> {
  const finality = { kind: 'confirmations', count: 1 } as const;
  return openChainReader({ rpcUrl, chainId: CHAIN_ID, finality, timeoutMs: 60_000 });
}

async function transactionOf({ rpcUrl }: TestAnvil, txHash: string): Promise<AnchorTransaction | null> {
  const found = await (await readerOf(rpcUrl)).transaction(txHash);
  if (found === null) return null;
  const { from, data, inclusion } = found;
  const { blockHeight, blockTime } = inclusion;
  return { chainId: CHAIN_ID, txHash, blockHeight, blockTime, from, data };
}

async function startRelay(
  target: string,
  decide: (method: string) => Fate | Promise<Fate>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const answer = async (body: string, response: ServerResponse): Promise<void> => {
    const { method } = JSON.parse(body) as { method: string };
    const fate = await decide(method);
    if (fate === 'refuse') return void response.destroy();
    const headers = { 'content-type': 'application/json' };
    const answered = await (await fetch(target, { method: 'POST', headers, body })).text();
    if (fate === 'lose') response.destroy();
    else response.writeHead(200, headers).end(answered);
  };
  const server = createServer((request, response) => {
    text(request)
      .then((body) => answer(body, response))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function postedBy(anvil: TestAnvil, address: string): Promise<Posted[]> {
  const posted: Posted[] = [];
  const latest = Number(await anvil.rpc('eth_blockNumber'));
  for (let height = 1; height <= latest; height++) {
    const block = await anvil.rpc('eth_getBlockByNumber', `0x${height.toString(16)}`, true);
    const { transactions } = block as { transactions: Record<'from' | 'nonce' | 'input' | 'hash', string>[] };
    for (const { from, nonce, input, hash } of transactions) {
      const head = from === address.toLowerCase() ? decodePosting(fromHex(input.slice(2))) : null;
      if (head === null) throw new Error(`${hash} posts no root of the account.`);
      posted.push({ txHash: hash, nonce: Number(nonce), size: head.size, root: toHex(head.root) });
    }
  }
  return posted;
}
