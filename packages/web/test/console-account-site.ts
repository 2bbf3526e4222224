import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { BrowserContext } from 'playwright-core';
import { createWalletClient, http } from 'viem';
import { createApiKey } from '../../callers/src/manage-api-keys.ts';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { USDC_ABI } from '../../chain/src/token/usdc.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { creditCaller } from '../../ledger/src/credit.ts';
import { type Routed, startRouted } from '../../server/test/compute.ts';
import { runningClock } from '../../server/test/service.ts';

const DAY = 86_400_000;

/** An account: its own key, and one that it made. */
interface TestAccount {
  readonly id: string;
  readonly key: string;
  readonly madeId: string;
  readonly made: string;
}

/** A service that is paid on a development chain, with two accounts that called a model, and a receiver of webhooks. */
export interface AccountSite extends Routed {
  readonly mine: TestAccount;
  readonly theirs: TestAccount;
  /** Where webhooks are received. */
  readonly receiver: string;
  /** Ids of the messages that came. */
  readonly got: readonly (string | undefined)[];
  /** Transfers base units of USDC, and waits until the service has seen it. */
  transfer(to: string, amount: bigint): Promise<void>;
  /** A wallet in the pages of a context, as an extension puts it there. `declines` says whether its owner does. */
  addWallet(context: BrowserContext, declines: () => boolean): Promise<void>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

export async function startAccountSite(): Promise<AccountSite> {
  const got: (string | undefined)[] = [];
  const server = createServer((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await text(request);
    got.push(request.headers['webhook-id'] as string | undefined);
    response.writeHead(204).end();
  }
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const routed = await startRouted({
    clock: runningClock(),
    env: { TALLY_DEVNET: 'on', TALLY_PAYMENTS: 'x402', TALLY_X402_WAIT_SECONDS: '30' },
  });
  const { money, treasury } = routed.service.services;
  if (money === null || treasury === null) throw new Error('The service takes no payments.');
  await treasury.watch();
  const rpc = http(money.rpcUrl);
  return {
    ...routed,
    mine: await account(routed, 'nightly batch'),
    theirs: await account(routed, 'of another account'),
    receiver: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    got,
    async transfer(to, amount) {
      const wallet = createWalletClient({ account: devAccount('bob'), transport: rpc });
      await wallet.writeContract({
        chain: null,
        address: money.token.usdc,
        abi: USDC_ABI,
        functionName: 'transfer',
        args: [to as `0x${string}`, amount],
      });
      for (let block = 0; block <= money.token.confirmations; block += 1)
        await wallet.request({ method: 'anvil_mine', params: ['0x1'] } as never);
      await treasury.watch();
    },
    async addWallet(context, declines) {
      const alice = devAccount('alice');
      await context.exposeFunction('walletDoes', async (method: string, params: readonly string[] = []) => {
        if (method === 'eth_requestAccounts') return [alice.address];
        if (method !== 'eth_signTypedData_v4') return null;
        return declines() ? '' : alice.signTypedData(JSON.parse(params[1] ?? ''));
      });
      await context.addInitScript(`globalThis.ethereum = { async request({ method, params }) {
        const answer = await walletDoes(method, params);
        if (answer === '') throw { code: 4001, message: 'User rejected the request' };
        return answer;
      } };`);
    },
    async close() {
      await new Promise((resolve) => void server.close(resolve));
      await routed.close();
    },
  };
}

async function account(routed: Routed, name: string): Promise<TestAccount> {
  const { store, issuer } = routed.service.services;
  const now = routed.service.clock();
  const secret = withApiKeySecret(issuer.keyring).apiKeySecret;
  const { id, key } = await createApiKey(store, secret, { tier: 'pro', label: null, now });
  for (const [at, amount] of [20n, 5n].entries())
    await creditCaller(store, {
      caller: id,
      amount: amount * 1_000_000_000n,
      reference: `${id} ${at}`,
      memo: 'top-up',
      now: now - (3 - at) * DAY,
    });
  const limits = {
    day_usdc: '0.00005',
    month_usdc: '0.0005',
    requests_per_minute: 60,
    models: ['gpt-4o-mini'],
  };
  const reply = await routed.post('/v1/keys', { name, limits }, bearer(key));
  const { id: madeId, key: made } = (await reply.json()) as { id: string; key: string };
  for (let call = 0; call < 4; call += 1) await routed.chat({ max_tokens: 20 }, bearer(made));
  await routed.chat({ max_tokens: 20 }, bearer(key));
  return { id, key, madeId, made };
}
