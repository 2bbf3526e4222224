import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/src/config/config.ts';
import { startAnvil, type TestAnvil } from '../../../server/test/anvil.ts';
import { devAccount } from './dev-accounts.ts';
import { DEV_USDC } from './dev-token.ts';
import { openMoney } from './open.ts';

let anvil: TestAnvil;
beforeAll(async () => {
  anvil = await startAnvil();
});
afterAll(() => anvil.stop());

const treasury = '0x52908400098527886E0F7030069857D2E4169EE7';
const elsewhere = {
  TALLY_PAYMENTS: 'x402',
  TALLY_CHAIN_RPC_URL: 'https://rpc.example.com',
  TALLY_CHAIN_ID: '8453',
  TALLY_TREASURY: treasury,
  TALLY_USDC: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  TALLY_X402_FACILITATOR: 'https://facilitator.example.com',
};
const open = (env: NodeJS.ProcessEnv, rpcUrl = 'https://rpc.example.com') =>
  openMoney(readConfig(env), rpcUrl);

describe('where money moves', () => {
  it('on a development chain, its own test money and treasury, or the one that was told', async () => {
    const money = await open({ TALLY_PAYMENTS: 'x402' }, anvil.rpcUrl);
    expect(money).toMatchObject({ treasury: devAccount('treasury').address, chainId: 31_337 });
    expect([money.token.network, money.token.usdc, money.dev?.usdc]).toEqual([
      'eip155:31337',
      DEV_USDC,
      DEV_USDC,
    ]);
    const told = await open({ TALLY_PAYMENTS: 'x402', TALLY_TREASURY: treasury }, anvil.rpcUrl);
    expect(told.treasury).toBe(treasury);
  });

  it('elsewhere, what was told, and nothing is put there', async () => {
    const money = await open(elsewhere);
    expect(money).toMatchObject({ treasury, dev: null });
    expect([money.token.network, money.token.usdc]).toEqual([
      'eip155:8453',
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    ]);
  });

  it.each(['treasury', 'usdc'] as const)('not at an address whose checksum is wrong: %s', async (name) => {
    const config = readConfig(elsewhere);
    const payments = { ...config.payments, [name]: treasury.replace('E7', 'e7') };
    await expect(openMoney({ ...config, payments }, elsewhere.TALLY_CHAIN_RPC_URL)).rejects.toThrow(
      `TALLY_${name.toUpperCase()} is not an address`,
    );
  });
});
