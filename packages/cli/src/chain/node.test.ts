import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { type RpcRequest, type RpcServer, startRpcServer } from '../../../server/test/rpc-server.ts';
import { openNode } from './node.ts';

const SECRET = 'Zq7rPvW1SECRET';
const HASH = `0x${'12'.repeat(32)}`;
const OTHER = `0x${'34'.repeat(32)}`;

type Answering = (request: RpcRequest, response: ServerResponse) => void;

let server: RpcServer;
afterEach(() => server.close());

async function open(answer: Answering, timeoutMs = 5000) {
  server = await startRpcServer(answer);
  const rpcUrl = `${server.url.replace('//', `//user:${SECRET}@`)}/v2/${SECRET}?key=${SECRET}`;
  return openNode(rpcUrl, [31_337, 8453], timeoutMs);
}

/** Answers each method with what is given for it. */
function results(byMethod: Record<string, unknown>): Answering {
  const all: Record<string, unknown> = { eth_chainId: '0x7a69', ...byMethod };
  return ({ id, method }, response) => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: all[method] ?? null }));
  };
}

describe('what a node answers is not trusted', () => {
  const answers: [string, Answering][] = [
    ['nothing', (_, response) => response.destroy()],
    ['half an answer', (_, response) => response.end('{"result":')],
    ['text', (_, response) => response.end('<html>')],
    ['a failure', (_, response) => response.writeHead(502).end('bad gateway')],
    ['a JSON string', (_, response) => response.end('"0x1"')],
    ['no result', (_, response) => response.end('{}')],
    ['no quantity', results({ eth_chainId: '31337' })],
    ['a huge quantity', results({ eth_chainId: `0x${'f'.repeat(64)}` })],
    ['too much', (_, response) => response.end(`{"result":"${'0'.repeat(5_000_000)}"}`)],
    [
      'a redirect',
      (_, response) => response.writeHead(307, { location: `http://127.0.0.1:1/${SECRET}` }).end(),
    ],
    [
      'a refusal that quotes the URL',
      (_, response) => response.end(JSON.stringify({ error: { code: -32000, message: `key ${SECRET}` } })),
    ],
  ];

  test.each(answers)('%s is chain_unavailable, without the URL’s secrets', async (_, answer) => {
    const error: unknown = await open(answer).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'chain_unavailable' });
    expect(String((error as Error).stack)).not.toContain(SECRET);
    expect((error as Error).message).not.toContain(server.url.slice(7));
    expect((error as Error).cause).toBeUndefined();
  });

  test('gives up on an answer that does not end', async () => {
    await expect(open((_, response) => void response.writeHead(200).write('{'), 50)).rejects.toThrow(
      /gave no answer in 50 ms/,
    );
  });

  test('a node of another chain', async () => {
    await expect(open(results({ eth_chainId: '0x1' }))).rejects.toMatchObject({
      code: 'chain_mismatch',
      message: 'The node is of chain 1; chain 31337 or 8453 is configured.',
    });
  });

  const block = { number: '0x5', hash: OTHER, timestamp: '0x6', transactions: [HASH] };
  const receipt = { transactionHash: HASH, blockNumber: '0x5', blockHash: OTHER, status: '0x1', logs: [] };

  test.each<[string, object, object, unknown]>([
    ['a good one', {}, {}, 5],
    ['of another transaction', { transactionHash: OTHER }, {}, 'chain_unavailable'],
    ['without logs', { logs: null }, {}, 'chain_unavailable'],
    ['with a log that is none', { logs: [{}] }, {}, 'chain_unavailable'],
    ['of a block without a time', {}, { timestamp: null }, 'chain_unavailable'],
    ['of a block that is not canonical', { blockHash: HASH }, {}, null],
    ['of a block that does not hold it', {}, { transactions: [] }, 'chain_unavailable'],
    ['of a pending transaction', { blockNumber: null, blockHash: null }, {}, null],
  ])('a receipt: %s', async (_, ofReceipt, ofBlock, expected) => {
    const node = await open(
      results({
        eth_getTransactionReceipt: { ...receipt, ...ofReceipt },
        eth_getBlockByNumber: { ...block, ...ofBlock },
      }),
    );
    const outcome = await node.settlementOf(HASH).catch((error: { code: string }) => error.code);
    expect(typeof outcome === 'string' ? outcome : (outcome.transaction?.blockHeight ?? null)).toBe(expected);
  });

  test.each([
    ['the newest block', '0x5', true],
    ['an earlier block', '0x4', false],
  ])('the node calls %s final', async (_, number, final) => {
    const node = await open(({ id, method, params }, response) => {
      const at = params[0] === 'finalized' ? { ...block, number } : block;
      results({ eth_getTransactionReceipt: receipt, eth_getBlockByNumber: at })(
        { id, method, params },
        response,
      );
    });
    expect(await node.settlementOf(HASH)).toMatchObject({ chainId: 31_337, final });
  });

  test('a transaction that is not of the hash', async () => {
    const node = await open(results({ eth_getTransactionByHash: { type: '0x2', hash: HASH, input: '0x' } }));
    await expect(node.anchorOf(HASH)).rejects.toThrow(/answered what is not that transaction/);
  });

  test('a transaction of another type is no posting', async () => {
    const node = await open(results({ eth_getTransactionByHash: { type: '0x0' } }));
    expect(await node.anchorOf(HASH)).toEqual({ chainId: 31_337, transaction: null, final: false });
  });
});
