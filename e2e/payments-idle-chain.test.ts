import { afterAll, beforeAll, expect, it } from 'vitest';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';
import { callRpc } from '../packages/server/test/anvil.ts';
import { type PaidService, startPaidService } from './paid-service.ts';
import { settlementOf } from './payer.ts';
import { exactPayment, requiredBy } from './signed-payment.ts';

let service: PaidService;
beforeAll(async () => {
  service = await startPaidService();
});
afterAll(() => service.close());

const rpc = (method: string, ...params: unknown[]): Promise<unknown> =>
  callRpc(service.money.rpcUrl, method, params);

const headAge = async (): Promise<number> => {
  const { timestamp } = (await rpc('eth_getBlockByNumber', 'latest', false)) as { timestamp: string };
  return Math.floor(Date.now() / 1000) - Number(timestamp);
};

/** Leaves the chain as it is after so many seconds without a transaction: its clock is right, its last block old. */
async function idle(seconds: number): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  await rpc('evm_setTime', now - seconds);
  await rpc('evm_mine');
  await rpc('evm_setTime', Math.floor(Date.now() / 1000));
  expect(await headAge()).toBeGreaterThan(seconds - 60);
}

const emit = (headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ input: 'x' }),
  });

it.each([
  ['ten minutes back, as clients do', 900, 600],
  ['half a minute back', 120, 30],
])('a payment that is dated %s is good after %d s without a block', async (_, idleSeconds, datedBack) => {
  const required = requiredBy(await emit());
  await idle(idleSeconds);
  const validAfter = Math.floor(Date.now() / 1000) - datedBack;
  const response = await emit(await exactPayment(devAccount('alice'), required, { validAfter }));
  expect(response.status, await response.clone().text()).toBe(200);
  expect(settlementOf(response).success).toBe(true);
  expect(await headAge()).toBeLessThan(datedBack);
});
