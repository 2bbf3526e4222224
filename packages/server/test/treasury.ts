import { type JsonObject, toHex, utf8 } from '@tallystick/core';
import { encodeFunctionData, getAddress, keccak256, numberToHex } from 'viem/utils';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC, type DevToken, deployDevToken } from '../../chain/src/token/dev-token.ts';
import { USDC_ABI } from '../../chain/src/token/usdc.ts';
import { startAnvil, type TestAnvil } from './anvil.ts';
import { runningClock, startTestService, type TestService, type TestServiceOptions } from './service.ts';

export const NETWORK = 'eip155:31337';
const GAS = 150_000n;
/** Far above what a test chain asks. */
const FEE = 10n ** 11n;

type Payer = 'alice' | 'bob';

export interface TreasuryChain {
  readonly anvil: TestAnvil;
  readonly token: DevToken;
  readonly treasury: string;
  /** A signed transfer of base units to the treasury, with what follows its calldata. */
  sign(payer: Payer, amount: bigint, memo?: string | Uint8Array): Promise<{ raw: string; txHash: string }>;
  /** Resolves once it is in a block; inside `together`, once the node has it. */
  send(raw: string): Promise<void>;
  /** What is sent meanwhile goes into one block, in that order. */
  together(work: () => Promise<void>): Promise<void>;
  /** Signs and sends; resolves to the transaction's hash. */
  pay(amount: bigint, memo?: string | Uint8Array, payer?: Payer): Promise<string>;
  mine(blocks: number): Promise<void>;
  /** The environment of a service that is paid there. */
  env(more?: Readonly<Record<string, string>>): Record<string, string>;
}

/** A chain with test money, whose treasury is the development chain's. */
export async function startTreasuryChain(): Promise<TreasuryChain> {
  const anvil = await startAnvil();
  const token = await deployDevToken(anvil.rpcUrl);
  const treasury = token.accounts.treasury;
  for (const name of ['alice', 'bob'] as const)
    await token.give(token.accounts[name], { usdc: 10_000_000_000n, wei: 10n ** 19n });
  let holding = false;
  const chain: TreasuryChain = {
    anvil,
    token,
    treasury,
    async sign(payer, amount, memo = '') {
      const account = devAccount(payer);
      const count = await anvil.rpc('eth_getTransactionCount', account.address, 'pending');
      const call = encodeFunctionData({
        abi: USDC_ABI,
        functionName: 'transfer',
        args: [getAddress(treasury), amount],
      });
      const tail = toHex(typeof memo === 'string' ? utf8(memo) : memo);
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId: 31_337,
        nonce: Number(count),
        to: DEV_USDC,
        value: 0n,
        data: `${call}${tail}`,
        gas: GAS,
        maxFeePerGas: FEE,
        maxPriorityFeePerGas: 1n,
      });
      return { raw, txHash: keccak256(raw) };
    },
    async send(raw) {
      const hash = await anvil.rpc('eth_sendRawTransaction', raw);
      if (!holding) await minedIn(anvil, hash);
    },
    async together(work) {
      holding = true;
      await anvil.rpc('evm_setAutomine', false);
      await work();
      await chain.mine(1);
      await anvil.rpc('evm_setAutomine', true);
      holding = false;
    },
    async pay(amount, memo, payer = 'alice') {
      const { raw, txHash } = await chain.sign(payer, amount, memo);
      await chain.send(raw);
      return txHash;
    },
    mine: async (blocks) => void (await anvil.rpc('anvil_mine', numberToHex(blocks))),
    env: (more = {}) => ({
      TALLY_CHAIN_RPC_URL: anvil.rpcUrl,
      TALLY_PAYMENTS: 'x402',
      TALLY_TREASURY: treasury,
      TALLY_USDC: DEV_USDC,
      TALLY_X402_FACILITATOR: 'http://127.0.0.1:9',
      ...more,
    }),
  };
  return chain;
}

/** The node answers before it has mined the block, and tells the transaction's block later than its receipt. */
async function minedIn(anvil: TestAnvil, hash: unknown): Promise<void> {
  while ((await anvil.rpc('eth_getTransactionReceipt', hash)) === null);
  const told = async () =>
    (await anvil.rpc('eth_getTransactionByHash', hash)) as { blockHash?: string } | null;
  while (((await told())?.blockHash ?? null) === null);
}

/** A service whose treasury has been read up to now, so that all that follows is seen. */
export async function startPaidService(
  chain: TreasuryChain,
  { env = {}, ...options }: TestServiceOptions = {},
): Promise<TestService> {
  const service = await startTestService({ clock: runningClock(), ...options, env: chain.env(env) });
  await watch(service);
  return service;
}

export async function watch(service: TestService): Promise<void> {
  await service.services.treasury?.watch();
}

/** Ids of the transfers that are posted, and of those that the service has seen and not ended. */
export async function transfersOf(service: TestService): Promise<string[]> {
  const undecided = await service.services.store.treasury.undecided(NETWORK, 1_000);
  return [...undecided, ...(await postedTransfers(service))].map(({ id }) => id);
}

/** How a transfer has ended. */
export interface TransferEnd {
  readonly id: string;
  readonly outcome: 'key' | 'top_up' | 'refund';
  /** Id of the order that it paid, or of its refund; null of a top-up without a quote. */
  readonly reference: string | null;
  /** Base units. */
  readonly amount: bigint;
}

/** How the first transfer of a transaction has ended; undefined where it has not. */
export async function endOf(service: TestService, txHash: string): Promise<TransferEnd | undefined> {
  const { treasury } = service.services.store;
  const id = `${NETWORK}:${txHash}:0`;
  const posted = (await postedTransfers(service)).find((one) => one.id === id);
  const refund = (await treasury.newestPayouts('refund', 1_000)).find(({ transfer }) => transfer === id);
  const order = (await treasury.newestOrders(1_000)).find(({ payment }) => payment === id);
  const bought = order === undefined || order.kind === 'top_up' ? 'top_up' : 'key';
  const outcome = refund === undefined ? bought : 'refund';
  return posted && { ...posted, outcome, reference: (refund ?? order)?.id ?? null };
}

async function postedTransfers({ services }: TestService): Promise<{ id: string; amount: bigint }[]> {
  const lines = await services.store.ledger.statement(`chain:${NETWORK}`, { limit: 1_000 });
  return lines
    .filter(({ posting }) => posting.startsWith('transfer:'))
    .map(({ posting, amount }) => ({ id: posting.slice('transfer:'.length), amount: -amount / 1_000n }));
}

/** What to pay for a key. */
export interface Quote extends JsonObject {
  readonly order_id: string;
  readonly amount: string;
}

export async function quote(service: TestService, body: JsonObject): Promise<Quote> {
  const { status, json, text } = await service.post('/v1/anchor/keys/quote', body);
  if (status !== 200) throw new Error(text);
  return json as Quote;
}
