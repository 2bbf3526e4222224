import type { ServerResponse } from 'node:http';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type TestAnvil } from '../../../server/test/anvil.ts';
import { type RpcRequest, type RpcServer, startRpcServer } from '../../../server/test/rpc-server.ts';
import { sendCall, sendUsdc } from '../../../server/test/usdc.ts';
import { devAccount } from './dev-accounts.ts';
import { DEV_USDC, deployDevToken } from './dev-token.ts';
import { openTokenChain, type TokenChain, type TransferQuery } from './token.ts';
import { type TokenTransfer } from './token-transfer.ts';

const TREASURY = devAccount('treasury').address;
const ALICE = devAccount('alice').address;
const NOBODY = `0x${'ab'.repeat(20)}`;
const EIP3009 = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const text = (transfer: TokenTransfer) => transfer.memo && new TextDecoder().decode(transfer.memo);

let anvil: TestAnvil;
let token: TokenChain;

beforeAll(async () => {
  anvil = await startAnvil();
  await deployDevToken(anvil.rpcUrl);
  token = open(anvil.rpcUrl);
});
afterAll(() => anvil.stop());

function open(rpcUrl: string, confirmations = 1): TokenChain {
  return openTokenChain({ rpcUrl, chainId: 31_337, usdc: DEV_USDC, confirmations, timeoutMs: 60_000 });
}

async function collect(query: Partial<TransferQuery>, chain = token): Promise<TokenTransfer[]> {
  const { number } = await chain.head();
  const found = [];
  const parties = query.from === undefined ? { to: TREASURY } : {};
  for await (const one of chain.transfers({ fromBlock: 0, toBlock: number, ...parties, ...query })) {
    found.push(one);
  }
  return found;
}

/** Sends with the mining stopped, so that all ends up in one block. */
async function inOneBlock(send: () => Promise<unknown>): Promise<void> {
  await anvil.rpc('evm_setAutomine', false);
  await send();
  await anvil.rpc('anvil_mine', '0x1');
  await anvil.rpc('evm_setAutomine', true);
}

describe('transfers', () => {
  it('have their memo, amount and place', async () => {
    const { number: fromBlock } = await token.head();
    const txHash = await sendUsdc(anvil.rpcUrl, 'alice', {
      to: TREASURY,
      amount: 1_234_567n,
      memo: 'tier=pro €',
    });
    const [transfer, ...rest] = await collect({ fromBlock: fromBlock + 1 });
    expect(rest).toEqual([]);
    const head = await token.head();
    expect(transfer).toMatchObject({
      txHash,
      logIndex: 0,
      ordinal: 0,
      blockNumber: head.number,
      blockHash: head.hash,
      blockTime: head.time,
      from: ALICE.toLowerCase(),
      to: TREASURY.toLowerCase(),
      amount: 1_234_567n,
    });
    expect(transfer && text(transfer)).toBe('tier=pro €');
    expect(transfer?.calldata.endsWith(Buffer.from('tier=pro €').toString('hex'))).toBe(true);
  });

  it('without a memo have an empty one, and those of nothing are left out', async () => {
    const { number } = await token.head();
    await sendUsdc(anvil.rpcUrl, 'alice', { to: TREASURY, amount: 0n, memo: 'spam' });
    await sendUsdc(anvil.rpcUrl, 'alice', { to: TREASURY, amount: 5n });
    await sendUsdc(anvil.rpcUrl, 'alice', { to: NOBODY, amount: 6n });
    const found = await collect({ fromBlock: number + 1 });
    expect(found.map(({ amount, memo }) => [amount, memo])).toEqual([[5n, new Uint8Array()]]);
    expect((await collect({ fromBlock: number + 1, to: NOBODY })).map(({ amount }) => amount)).toEqual([6n]);
  });

  it('that somebody else makes have none', async () => {
    const { number } = await token.head();
    const value = 7n;
    const message = {
      from: ALICE,
      to: TREASURY,
      value,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce: `0x${'07'.repeat(32)}` as const,
    };
    expect(await token.authorizationState(ALICE, message.nonce)).toBe(false);
    expect(await token.authorizationTx(ALICE, message.nonce, 0)).toBe(null);
    const signature = await devAccount('alice').signTypedData({
      domain: { ...(await token.domain()), chainId: 31_337, verifyingContract: DEV_USDC },
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'TransferWithAuthorization',
      message,
    });
    const data = encodeFunctionData({
      abi: EIP3009,
      args: [ALICE, TREASURY, value, 0n, message.validBefore, message.nonce, signature],
    });
    const txHash = await sendCall(anvil.rpcUrl, 'facilitator', data);
    const [transfer] = await collect({ fromBlock: number + 1 });
    expect(transfer).toMatchObject({ txHash, from: ALICE.toLowerCase(), amount: value, memo: null });
    expect(await token.authorizationState(ALICE, message.nonce)).toBe(true);
    expect(await token.authorizationTx(ALICE, message.nonce, 0)).toBe(txHash);
    expect(await token.authorizationTx(TREASURY, message.nonce, 0)).toBe(null);
  });

  it('of one block come in their order', async () => {
    const { number } = await token.head();
    await inOneBlock(async () => {
      const nonce = Number(await anvil.rpc('eth_getTransactionCount', ALICE, 'latest'));
      await sendUsdc(anvil.rpcUrl, 'alice', { to: TREASURY, amount: 11n, memo: 'one', nonce, mined: false });
      await sendUsdc(anvil.rpcUrl, 'alice', {
        to: TREASURY,
        amount: 11n,
        memo: 'two',
        nonce: nonce + 1,
        mined: false,
      });
    });
    const found = await collect({ fromBlock: number + 1 });
    expect(found.map((one) => [one.blockNumber, one.logIndex, text(one)])).toEqual([
      [number + 1, 0, 'one'],
      [number + 1, 1, 'two'],
    ]);
  });

  it('are found by the sender too', async () => {
    const found = await collect({ from: ALICE });
    expect(found.length).toBeGreaterThan(5);
    expect(new Set(found.map(({ from }) => from))).toEqual(new Set([ALICE.toLowerCase()]));
  });

  it('of blocks that are not there yet are refused', async () => {
    const { number } = await token.head();
    await expect(collect({ toBlock: number + 1 })).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});

describe('balances', () => {
  it('are read now and as they were', async () => {
    const { number } = await token.head();
    const before = await token.balanceOf(TREASURY);
    await sendUsdc(anvil.rpcUrl, 'alice', { to: TREASURY, amount: 3n });
    expect(await token.balanceOf(TREASURY)).toBe(before + 3n);
    expect(await token.balanceOf(TREASURY, number)).toBe(before);
  });

  it('blocks have their hash and time', async () => {
    const head = await token.head();
    expect(await token.block(head.number)).toEqual(head);
    expect(await token.block(head.number + 1)).toBe(null);
  });
});

describe('a payment', () => {
  const expected = { from: ALICE, to: TREASURY, amount: 1000n };
  const pay = (amount = 1000n, mined = true) =>
    sendUsdc(anvil.rpcUrl, 'alice', { to: TREASURY, amount, mined });

  it('is confirmed once it is deep enough', async () => {
    const deep = open(anvil.rpcUrl, 3);
    const txHash = await pay();
    expect(await token.settled(txHash, expected)).toBe('confirmed');
    expect(await token.settled(txHash.toUpperCase().replace('0X', '0x'), expected)).toBe('confirmed');
    expect(await deep.settled(txHash, expected)).toBe('pending');
    await anvil.rpc('anvil_mine', '0x1');
    expect(await deep.settled(txHash, expected)).toBe('pending');
    await anvil.rpc('anvil_mine', '0x1');
    expect(await deep.settled(txHash, expected)).toBe('confirmed');
  });

  it.each([
    ['another amount', { amount: 999n }],
    ['another payee', { to: NOBODY }],
    ['another payer', { from: NOBODY }],
  ])('of %s is none', async (_, change) => {
    expect(await token.settled(await pay(), { ...expected, ...change })).toBe('mismatch');
  });

  it('that was reverted, or is of another token, is none', async () => {
    const broke = await pay(10n ** 12n);
    expect(await token.settled(broke, { ...expected, amount: 10n ** 12n })).toBe('mismatch');
    const other = openTokenChain({
      rpcUrl: anvil.rpcUrl,
      chainId: 31_337,
      usdc: TREASURY,
      confirmations: 1,
      timeoutMs: 60_000,
    });
    expect(await other.settled(await pay(), expected)).toBe('mismatch');
  });

  it('is pending before it is mined, and missing where nobody knows it', async () => {
    await inOneBlock(async () => {
      expect(await token.settled(await pay(1000n, false), expected)).toBe('pending');
    });
    expect(await token.settled(`0x${'12'.repeat(32)}`, expected)).toBe('missing');
  });
});

describe('a reorg', () => {
  it('takes a transfer away, or moves it', async () => {
    await anvil.rpc('anvil_mine', '0x1');
    const { number } = await token.head();
    const gone = await sendUsdc(anvil.rpcUrl, 'alice', { to: TREASURY, amount: 21n, memo: 'gone' });
    const before = await collect({ fromBlock: number + 1 });
    expect(before.map(({ txHash }) => txHash)).toEqual([gone]);
    const raw = await anvil.rpc('eth_getRawTransactionByHash', gone);

    await anvil.rpc('anvil_reorg', 1, []);
    expect(await collect({ fromBlock: number + 1 })).toEqual([]);
    expect(await token.settled(gone, { to: TREASURY, amount: 21n })).toBe('missing');
    expect((await token.block(number + 1))?.hash).not.toBe(before[0]?.blockHash);

    await anvil.rpc('anvil_mine', '0x1');
    await anvil.rpc('anvil_reorg', 2, [[raw, 1]]);
    const [moved, ...rest] = await collect({ fromBlock: number + 1 });
    expect(rest).toEqual([]);
    expect(moved).toMatchObject({ txHash: gone, ordinal: 0, amount: 21n, blockNumber: number + 2 });
    expect(await token.settled(gone, { to: TREASURY, amount: 21n })).toBe('confirmed');
  });
});

describe('a difficult node', () => {
  let server: RpcServer;
  afterEach(() => server.close());

  /** Passes calls on to the chain; `instead` may answer in its place. */
  async function between(
    instead: (request: RpcRequest, response: ServerResponse) => unknown,
  ): Promise<TokenChain> {
    server = await startRpcServer(async (request, response) => {
      response.setHeader('content-type', 'application/json');
      const given = await instead(request, response);
      if (response.writableEnded) return;
      const result = given ?? (await anvil.rpc(request.method, ...request.params));
      response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result }));
    });
    return open(server.url);
  }

  const refuse = ({ id }: RpcRequest, response: ServerResponse): void => {
    const error = { code: -32_005, message: 'query returned more than 10000 results' };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
  };
  const blocksOf = ({ params: [filter] }: RpcRequest): number => {
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
    return Number(toBlock) - Number(fromBlock) + 1;
  };

  it('that refuses a range is asked for less at once, and gives the same', async () => {
    const sizes: number[] = [];
    const chain = await between((request, response) => {
      if (request.method !== 'eth_getLogs') return;
      sizes.push(blocksOf(request));
      if (blocksOf(request) > 3) refuse(request, response);
    });
    expect(await collect({}, chain)).toEqual(await collect({}));
    expect(Math.max(...sizes)).toBeGreaterThan(3);
    const { number } = await token.head();
    expect(sizes.filter((size) => size <= 3).reduce((sum, size) => sum + size)).toBe(number + 1);
  });

  it('that refuses even one block is unavailable', async () => {
    const chain = await between((request, response) => {
      if (request.method === 'eth_getLogs') refuse(request, response);
    });
    await expect(collect({}, chain)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it('that changes branch meanwhile is unavailable', async () => {
    let asked = 0;
    const chain = await between(async ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber' || params[0] === 'latest') return;
      const block = (await anvil.rpc(method, ...params)) as object;
      return { ...block, hash: `0x${String(asked++).padStart(64, '0')}` };
    });
    await expect(collect({}, chain)).rejects.toThrow(/another branch/);
  });

  it.each([
    ['of another contract', { address: NOBODY }, /different logs/],
    ['to somebody else', { topics: [] }, /different logs/],
    ['of a block outside the range', { blockNumber: '0xffff' }, /different logs/],
    ['of a block that is not in the chain', { blockHash: `0x${'34'.repeat(32)}` }, /not in the chain/],
  ])('that tells logs %s is unavailable', async (_, change, message) => {
    const chain = await between(async ({ method, params }) => {
      if (method !== 'eth_getLogs') return;
      const [first, ...rest] = (await anvil.rpc(method, ...params)) as object[];
      return [{ ...first, ...change }, ...rest];
    });
    await expect(collect({}, chain)).rejects.toThrow(message);
  });

  it('that tells logs it has removed is not believed', async () => {
    const chain = await between(async ({ method, params }) => {
      if (method !== 'eth_getLogs') return;
      const logs = (await anvil.rpc(method, ...params)) as object[];
      return logs.map((log) => ({ ...log, removed: true }));
    });
    expect(await collect({}, chain)).toEqual([]);
  });

  it('whose token has no name has another token', async () => {
    const chain = await between(({ method }) => (method === 'eth_call' ? '0x' : undefined));
    await expect(chain.domain()).rejects.toThrow(/is .* the token/);
  });
});
