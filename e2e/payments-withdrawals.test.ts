import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';
import { callRpc } from '../packages/server/test/anvil.ts';
import { ALONE } from '../packages/server/test/service.ts';
import { type PaidService, startPaidService } from './paid-service.ts';
import { BATCH_SETTLEMENT_ADDRESS, type Payer, payer, settlementOf } from './payer.ts';

const PRICE = 100n;
const DEPOSIT = 10_000n;
const CALL_SECONDS = 1_200;
const WITHDRAWALS = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function initiateWithdraw(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
]);
type Config = Parameters<typeof encodeFunctionData<typeof WITHDRAWALS, 'finalizeWithdraw'>>[0]['args'][0];

let service: PaidService;
let alice: Payer;
let bob: Payer;

beforeAll(async () => {
  service = await startPaidService({ TALLY_CALL_TIMEOUT_MS: String(CALL_SECONDS * 1_000) });
  const { rpcUrl } = service.money;
  alice = payer('alice', rpcUrl, { schemes: ['batch-settlement'], deposit: DEPOSIT });
  bob = payer('bob', rpcUrl, { schemes: ['batch-settlement'], deposit: DEPOSIT });
});
afterAll(() => service.close());

it('a deposit that its payer asks back pays for no more, and nobody else’s vouchers wait for what it leaves', async () => {
  await nano(alice);
  const config = await channelOf(await nano(bob));
  expect(await service.payments.collect()).toMatchObject({ amount: 2n * PRICE });
  const before = await service.usdc(bob.address);

  await send('initiateWithdraw', config, DEPOSIT - PRICE);
  // The process has seen the deposit within the last minute; one that has not looks at the chain.
  if (ALONE) await channelOf(await nano(bob));
  service.clock.advance(61_000);
  const refused = await nano(bob);
  expect(refused.status).toBe(402);
  expect(await refused.json()).toMatchObject({
    payment: { error: 'invalid_batch_settlement_evm_cumulative_exceeds_balance' },
  });

  // It comes back once the longest call that began before is over, and is claimed.
  const { rpcUrl } = service.money;
  await callRpc(rpcUrl, 'evm_increaseTime', [CALL_SECONDS + 300]);
  expect(await send('finalizeWithdraw', config)).toMatchObject({ status: '0x0' });
  await callRpc(rpcUrl, 'evm_increaseTime', [301]);
  expect(await send('finalizeWithdraw', config)).toMatchObject({ status: '0x1' });
  expect(await service.usdc(bob.address)).toBe(before + DEPOSIT - PRICE);
  await nano(alice);
  expect(await service.payments.collect()).toMatchObject({ amount: PRICE });
  expect(await service.payments.collect()).toBeNull();
});

function nano({ fetch }: Payer): Promise<Response> {
  return fetch(`${service.url}/v1/receipt/emit?profile=nano`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'by a voucher' }),
  });
}

async function channelOf(response: Response): Promise<Config> {
  expect(response.status, await response.clone().text()).toBe(200);
  const { extra } = settlementOf(response) as unknown as { extra: { channelState: { channelId: string } } };
  const { channelId } = extra.channelState;
  const row = await service.service.services.store.payments.channel(channelId.toLowerCase());
  return (JSON.parse(row?.document ?? '') as { channelConfig: Config }).channelConfig;
}

async function send(name: 'initiateWithdraw' | 'finalizeWithdraw', config: Config, amount?: bigint) {
  const account = devAccount('bob');
  const { rpcUrl, chainId } = service.money;
  const data =
    name === 'initiateWithdraw'
      ? encodeFunctionData({ abi: WITHDRAWALS, functionName: name, args: [config, amount ?? 0n] })
      : encodeFunctionData({ abi: WITHDRAWALS, functionName: name, args: [config] });
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: Number(await callRpc(rpcUrl, 'eth_getTransactionCount', [account.address, 'latest'])),
    to: BATCH_SETTLEMENT_ADDRESS,
    data,
    gas: 500_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  });
  return callRpc(rpcUrl, 'eth_sendRawTransactionSync', [raw]);
}
