import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startAnvil, type TestAnvil } from '../../server/test/anvil.ts';
import type { Chain, Fees } from './chain.ts';
import { type ChainOptions, openEvmChain } from './evm.ts';
import { openChainReader } from './reader.ts';

const ETHER = 10n ** 18n;
const data = new Uint8Array(85).fill(0xab);

describe('an account on a chain', () => {
  let anvil: TestAnvil;
  let chain: Chain;

  function open(change: Partial<ChainOptions> = {}): Chain {
    return openEvmChain({
      rpcUrl: anvil.rpcUrl,
      chainId: 31_337,
      network: 'devnet',
      secretKey: randomBytes(32),
      finality: { kind: 'confirmations', count: 1 },
      timeoutMs: 60_000,
      ...change,
    });
  }

  const fund = (wei: bigint) => anvil.rpc('anvil_setBalance', chain.address, `0x${wei.toString(16)}`);

  async function post(nonce: number, fees?: Fees) {
    const signed = await chain.sign(data, nonce, fees ?? (await chain.fees(data)));
    return { ...signed, outcome: await chain.broadcast(signed.raw) };
  }

  beforeAll(async () => {
    anvil = await startAnvil();
    await anvil.rpc('evm_setAutomine', false);
  });
  afterAll(() => anvil.stop());
  beforeEach(async () => {
    await anvil.rpc('anvil_dropAllTransactions');
    chain = open();
    await fund(ETHER);
  });

  it('knows another chain', async () => {
    await expect(chain.check()).resolves.toBeUndefined();
    await expect(open({ chainId: 8453 }).check()).rejects.toMatchObject({ code: 'chain_mismatch' });
  });

  it('refuses what is no secp256k1 key', () => {
    expect(() => open({ secretKey: new Uint8Array(32) })).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'posting_key' }),
    );
  });

  it('posts data to itself, which anyone reads by the hash', async () => {
    const { txHash, outcome, raw } = await post(0);
    expect(outcome).toEqual({ kind: 'accepted' });
    expect(await chain.inclusion(txHash)).toBeNull();
    await anvil.rpc('anvil_mine');
    expect(await chain.senderOf(raw)).toBe(chain.address);
    expect(await chain.nextNonce()).toBe(1);
    expect(await chain.balance()).toBeLessThan(ETHER);
    const inclusion = await chain.inclusion(txHash);
    const height = await chain.finalHeight();
    expect(inclusion).toMatchObject({ txHash, blockHeight: height, succeeded: true });
    expect(inclusion?.blockHash).toBe(await chain.blockHash(height));
    expect(await chain.account(chain.address)).toEqual({
      nonce: 1,
      blockHeight: height,
      blockHash: inclusion?.blockHash,
    });
    const reader = openChainReader({
      rpcUrl: anvil.rpcUrl,
      chainId: 31_337,
      finality: { kind: 'finalized' },
      timeoutMs: 60_000,
    });
    expect(await reader.transaction(txHash)).toEqual({
      from: chain.address,
      data: `0x${'ab'.repeat(85)}`,
      inclusion,
    });
    expect(await chain.inclusion(`0x${'00'.repeat(32)}`)).toBeNull();
    expect(await chain.transaction(`0x${'00'.repeat(32)}`)).toBeNull();
    expect(await chain.blockHash(height + 1)).toBeNull();
  });

  it('signs the same transaction the same', async () => {
    const fees = await chain.fees(data);
    expect(await chain.sign(data, 3, fees)).toEqual(await chain.sign(data, 3, fees));
  });

  it('asks an eighth more for a replacement', async () => {
    const above = { maxFeePerGas: ETHER, maxPriorityFeePerGas: 0n };
    const fees = await chain.fees(data, above);
    expect(fees.maxFeePerGas * 8n).toBeGreaterThan(ETHER * 9n);
    expect(fees.maxPriorityFeePerGas).toBeGreaterThan(0n);
    expect(await chain.fees(data, { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })).toEqual(
      await chain.fees(data),
    );
  });

  it('tells apart why a transaction is not taken', async () => {
    const { raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = await post(0);
    expect(await chain.broadcast(raw)).toEqual({ kind: 'known' });
    const cheaper = { gasLimit, maxFeePerGas: maxFeePerGas - 1n, maxPriorityFeePerGas };
    expect((await post(0, cheaper)).outcome).toEqual({ kind: 'underpriced' });
    const belowBaseFee = { gasLimit, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
    expect((await post(1, belowBaseFee)).outcome).toEqual({ kind: 'underpriced' });
    expect((await post(1, { ...cheaper, maxFeePerGas: ETHER })).outcome).toEqual({
      kind: 'insufficient_funds',
    });
    await anvil.rpc('anvil_mine');
    expect(await chain.broadcast(raw)).toEqual({ kind: 'nonce_used' });
    await fund(0n);
    expect((await post(1)).outcome).toEqual({ kind: 'insufficient_funds' });
  });

  it('says how far the chain is final', async () => {
    const latest = Number(await anvil.rpc('eth_blockNumber'));
    const at = (count: number) => open({ finality: { kind: 'confirmations', count } }).finalHeight();
    expect(await at(1)).toBe(latest);
    expect(await at(2)).toBe(latest - 1);
    expect(await at(latest + 5)).toBe(-1);
    await anvil.rpc('anvil_mine', '0x64');
    // Anvil: two epochs of 32 slots behind the newest block.
    expect(await open({ finality: { kind: 'finalized' } }).finalHeight()).toBe(latest + 100 - 64);
  });

  it('sees a reorganisation', async () => {
    const { txHash } = await post(0);
    await anvil.rpc('anvil_mine');
    expect(await chain.nextNonce()).toBe(1);
    await anvil.rpc('anvil_reorg', 1, []);
    expect(await chain.inclusion(txHash)).toBeNull();
    expect(await chain.nextNonce()).toBe(0);
  });
});
