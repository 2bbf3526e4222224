import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil } from '../../server/test/anvil.ts';
import { type RpcRequest, type RpcServer, startRpcServer } from '../../server/test/rpc-server.ts';
import { openEvmChain } from './evm.ts';
import { openChainReader } from './reader.ts';

const SECRET = 'Zq7rPvW1SECRET';
const HASH = `0x${'12'.repeat(32)}`;
const OTHER = `0x${'34'.repeat(32)}`;

let server: RpcServer;
afterEach(() => server.close());

async function openReader(answer: (request: RpcRequest, response: ServerResponse) => void, timeoutMs = 5000) {
  server = await startRpcServer(answer);
  const rpcUrl = `${server.url.replace('//', `//user:${SECRET}@`)}/v2/${SECRET}?key=${SECRET}`;
  return openChainReader({ rpcUrl, chainId: 31_337, finality: { kind: 'finalized' }, timeoutMs });
}

/** Answers each method with what is given for it. */
function results(byMethod: Record<string, unknown>) {
  return ({ id, method }: RpcRequest, response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: byMethod[method] ?? null }));
  };
}

describe('what a node answers is not trusted', () => {
  const answers: [string, (request: RpcRequest, response: ServerResponse) => void][] = [
    ['nothing', (_, response) => response.destroy()],
    ['half an answer', (_, response) => response.end('{"result":')],
    ['text', (_, response) => response.end('<html>')],
    ['a failure', (_, response) => response.writeHead(502).end('bad gateway')],
    ['a JSON string', (_, response) => response.end('"0x1"')],
    ['no quantity', results({ eth_chainId: '31337' })],
    ['a huge quantity', results({ eth_chainId: `0x${'f'.repeat(64)}` })],
    ['too much', (_, response) => response.end(`{"result":"${'0'.repeat(5_000_000)}"}`)],
    [
      'a redirect',
      (_, response) => response.writeHead(307, { location: `http://127.0.0.1:1/${SECRET}` }).end(),
    ],
    [
      'a refusal that quotes the URL',
      ({ id }, response) =>
        response.end(
          JSON.stringify({
            id,
            error: {
              code: -32000,
              message: `key ${SECRET} of http://user:${SECRET}@${server.url.slice(7)}/v2/${SECRET}`,
            },
          }),
        ),
    ],
  ];

  it.each(answers)('%s is chain_unavailable, without the URL’s secrets', async (_, answer) => {
    const reader = await openReader(answer);
    const error: unknown = await reader.check().catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'chain_unavailable' });
    expect(String((error as Error).stack)).not.toContain(SECRET);
    expect((error as Error).message).not.toContain(server.url.slice(7));
    expect((error as Error).cause).toBeUndefined();
  });

  it('gives up on an answer that does not end', async () => {
    const reader = await openReader((_, response) => void response.writeHead(200).write('{'), 50);
    await expect(reader.check()).rejects.toThrow(/gave no answer in 50 ms/);
  });

  const block = { number: '0x5', hash: OTHER, timestamp: '0x6', transactions: [HASH] };
  const receipt = { transactionHash: HASH, blockNumber: '0x5', blockHash: OTHER, status: '0x1' };

  it.each([
    ['a good one', {}, {}, 5],
    ['of another transaction', { transactionHash: OTHER }, {}, 'chain_unavailable'],
    ['of a block that is not canonical', { blockHash: HASH }, {}, null],
    ['of a block that does not hold it', {}, { transactions: [] }, 'chain_unavailable'],
    ['of a pending transaction', { blockNumber: null, blockHash: null }, {}, null],
  ])('a receipt: %s', async (_, ofReceipt, ofBlock, expected) => {
    const reader = await openReader(
      results({
        eth_getTransactionReceipt: { ...receipt, ...ofReceipt },
        eth_getBlockByNumber: { ...block, ...ofBlock },
      }),
    );
    const outcome = await reader.inclusion(HASH).catch((error: { code: string }) => error.code);
    expect(typeof outcome === 'object' ? (outcome?.blockHeight ?? null) : outcome).toBe(expected);
  });

  it('there is no final block yet', async () => {
    expect(await (await openReader(results({}))).finalHeight()).toBe(-1);
  });
});

describe('a transaction of another’s making', () => {
  let told: Record<string, unknown>;
  let txHash: string;

  beforeAll(async () => {
    const anvil = await startAnvil();
    const chain = openEvmChain({
      rpcUrl: anvil.rpcUrl,
      chainId: 31_337,
      network: 'devnet',
      secretKey: new Uint8Array(32).fill(1),
      finality: { kind: 'confirmations', count: 1 },
      timeoutMs: 60_000,
    });
    await anvil.rpc('anvil_setBalance', chain.address, '0xde0b6b3a7640000');
    const data = Uint8Array.of(1, 2, 3);
    const signed = await chain.sign(data, 0, await chain.fees(data));
    await chain.broadcast(signed.raw);
    await anvil.rpc('anvil_mine');
    txHash = signed.txHash;
    told = (await anvil.rpc('eth_getTransactionByHash', txHash)) as Record<string, unknown>;
    await anvil.stop();
  });

  it.each([
    ['data', { input: '0x010204' }],
    ['sender', { r: `0x${'0a'.repeat(32)}` }],
    ['recipient', { to: null }],
    ['parity', { yParity: '0x7' }],
  ])('with another %s than the hash says is nonsense', async (_, change) => {
    const reader = await openReader(results({ eth_getTransactionByHash: { ...told, ...change } }));
    await expect(reader.transaction(txHash)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it.each([
    ['is read', {}, '0x010203'],
    ['of another type is no posting', { type: '0x0' }, null],
  ])('%s', async (_, change, expected) => {
    const reader = await openReader(
      results({
        eth_getTransactionByHash: { ...told, ...change },
        eth_getTransactionReceipt: {
          transactionHash: txHash,
          blockNumber: '0x5',
          blockHash: OTHER,
          status: '0x1',
        },
        eth_getBlockByNumber: { number: '0x5', hash: OTHER, timestamp: '0x6', transactions: [txHash] },
      }),
    );
    expect((await reader.transaction(txHash))?.data ?? null).toBe(expected);
  });
});
