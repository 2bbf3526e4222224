import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';
import { DEV_USDC, deployDevToken } from '../packages/chain/src/token/dev-token.ts';
import { openTokenChain, type TokenChain } from '../packages/chain/src/token/token.ts';
import { startAnvil, type TestAnvil } from '../packages/server/test/anvil.ts';
import { runningClock, startTestService, type TestService } from '../packages/server/test/service.ts';
import { startFacilitator, type TestFacilitator } from './facilitator.ts';
import { exactPayment, requiredBy } from './signed-payment.ts';

const PRICE = 800n;
const treasury = devAccount('treasury').address;
const dataDir = mkdtempSync(join(tmpdir(), 'tally-two-'));

let anvil: TestAnvil;
let chain: TokenChain;
let facilitator: TestFacilitator;
let servers: TestService[];

/** Two servers on one database, of a chain that neither of them started. */
beforeAll(async () => {
  anvil = await startAnvil();
  await deployDevToken(anvil.rpcUrl);
  chain = openTokenChain({
    rpcUrl: anvil.rpcUrl,
    chainId: 31_337,
    usdc: DEV_USDC,
    confirmations: 1,
    timeoutMs: 60_000,
  });
  facilitator = await startFacilitator();
  facilitator.use(anvil.rpcUrl);
  const env = {
    TALLY_DATA_DIR: dataDir,
    TALLY_CHAIN_RPC_URL: anvil.rpcUrl,
    TALLY_PAYMENTS: 'x402',
    TALLY_TREASURY: treasury,
    TALLY_USDC: DEV_USDC,
    TALLY_X402_FACILITATOR: facilitator.url,
    TALLY_X402_WAIT_SECONDS: '2',
    TALLY_ANCHOR_PERIOD_SECONDS: '3600',
    TALLY_LOG_ORIGIN: 'two.test',
  };
  servers = [];
  for (let started = 0; started < 2; started += 1) {
    servers.push(await startTestService({ env, clock: runningClock() }));
  }
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await facilitator.close();
  await anvil.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('two servers that get one payment at once', () => {
  it.each([1, 2, 3])('take it once, and give the same receipt (%i)', async (round) => {
    const body = JSON.stringify({ input: `round ${round}` });
    const headers = { 'content-type': 'application/json' };
    const send = async (server: TestService, more: Record<string, string> = {}): Promise<Response> =>
      server.app.request('/v1/receipt/emit', { method: 'POST', headers: { ...headers, ...more }, body });
    const [one] = servers;
    if (one === undefined) throw new Error('There are two.');
    const payment = await exactPayment(devAccount('alice'), requiredBy(await send(one)));
    const before = await chain.balanceOf(treasury);
    const asked = facilitator.requests.count;
    const first = await Promise.all([...servers, ...servers].map((server) => send(server, payment)));
    expect(first.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual(
      [],
    );
    const again = await Promise.all(servers.map((server) => send(server, payment)));
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
    const answered = [...first, ...again].filter(({ status }) => status === 200);
    expect(new Set(await Promise.all(answered.map((response) => response.text()))).size).toBe(1);
    expect(facilitator.requests.count - asked).toBe(1);
    expect((await chain.balanceOf(treasury)) - before).toBe(PRICE);
    const { ledger } = one.services.store;
    expect(-(await ledger.balance(`chain:${chain.network}`)).balance).toBe((before + PRICE) * 1_000n);
    expect(await ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
  });
});
