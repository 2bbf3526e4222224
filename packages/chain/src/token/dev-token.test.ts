import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRpc } from '../../../server/test/anvil.ts';
import { sendUsdc } from '../../../server/test/usdc.ts';
import { type Devnet, startDevnet } from '../devnet.ts';
import { devAccount } from './dev-accounts.ts';
import { DEV_USDC, deployDevToken, openDevToken } from './dev-token.ts';
import { openTokenChain } from './token.ts';
import { type TokenTransfer } from './token-transfer.ts';

const TREASURY = devAccount('treasury').address;

let dataDir: string;
let devnet: Devnet;
const start = async (): Promise<string> => {
  devnet = await startDevnet({ dataDir, chainId: 31_337, logger: pino({ level: 'silent' }) });
  return devnet.rpcUrl;
};
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tally-money-'));
});
afterEach(async () => {
  await devnet.stop();
  rmSync(dataDir, { recursive: true });
});

async function transfers(rpcUrl: string): Promise<TokenTransfer[]> {
  const token = openTokenChain({
    rpcUrl,
    chainId: 31_337,
    usdc: DEV_USDC,
    confirmations: 1,
    timeoutMs: 60_000,
  });
  const found = [];
  const toBlock = (await token.head()).number;
  for await (const one of token.transfers({ to: TREASURY, fromBlock: 0, toBlock })) found.push(one);
  return found;
}

describe('the money of the development chain', () => {
  it('is there after a restart, with the transfers and their memos', async () => {
    const first = await start();
    const dev = await deployDevToken(first);
    const txHash = await sendUsdc(first, 'alice', { to: TREASURY, amount: 40_000_000n, memo: 'tier=pro' });
    const before = await transfers(first);
    await devnet.stop();

    const second = await start();
    await expect(deployDevToken(second)).resolves.toMatchObject({ accounts: dev.accounts });
    const after = await openDevToken(second);
    expect(await after.balance(dev.accounts.alice)).toMatchObject({ usdc: 60_000_000n });
    expect(await after.balance(TREASURY)).toEqual({ usdc: 40_000_000n, wei: 10n ** 18n });
    const found = await transfers(second);
    expect(found.map(({ txHash: hash, amount }) => [hash, amount])).toEqual([[txHash, 40_000_000n]]);
    expect(found).toEqual(before);
  });

  it('is given again to a wallet that has nothing left', async () => {
    const rpcUrl = await start();
    const dev = await deployDevToken(rpcUrl);
    await sendUsdc(rpcUrl, 'bob', { to: TREASURY, amount: 100_000_000n });
    await deployDevToken(rpcUrl);
    expect((await dev.balance(dev.accounts.bob)).usdc).toBe(100_000_000n);
  });

  it('has contracts that are replaced when they are of another version', async () => {
    const rpcUrl = await start();
    await deployDevToken(rpcUrl);
    const code = await callRpc(rpcUrl, 'eth_getCode', [DEV_USDC, 'latest']);
    await callRpc(rpcUrl, 'anvil_setCode', [DEV_USDC, '0x00']);
    await deployDevToken(rpcUrl);
    expect(await callRpc(rpcUrl, 'eth_getCode', [DEV_USDC, 'latest'])).toBe(code);
  });
});

describe('no test money is given', () => {
  it('on a chain that has none, or that is elsewhere', async () => {
    await expect(openDevToken(await start())).rejects.toMatchObject({ code: 'chain_mismatch' });
    for (const open of [openDevToken, deployDevToken]) {
      await expect(open('https://rpc.example.com')).rejects.toMatchObject({ code: 'chain_mismatch' });
    }
  });
});
