import { x402Facilitator } from '@x402/core/facilitator';
import { HTTPFacilitatorClient } from '@x402/core/http';
import type { FacilitatorClient } from '@x402/core/server';
import type { SupportedResponse } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import {
  createClient,
  http,
  publicActions,
  testActions,
  type VerifyTypedDataParameters,
  walletActions,
} from 'viem';
import { nonceManager, type PrivateKeyAccount } from 'viem/accounts';

const POLL_MS = 100;
/** Age in seconds that the newest block of a development chain may have: about as on a chain that makes blocks all the time. */
const MAX_HEAD_AGE_SECONDS = 5;

/** A facilitator over HTTP. Its word is not trusted: see chain-watch.ts. */
export function httpFacilitator(url: string, timeoutMs: number): FacilitatorClient {
  return new HTTPFacilitatorClient({ url, timeoutMs });
}

interface LocalOptions {
  /** Endpoint of the development chain. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Submits transactions and pays their gas; also signs claims. */
  readonly account: PrivateKeyAccount;
  /** How long to wait for a transaction. */
  readonly timeoutMs: number;
}

/** A facilitator in this process, for a development chain, to which it adds an empty block when the newest is old. */
export function localFacilitator({ rpcUrl, chainId, account, timeoutMs }: LocalOptions): FacilitatorClient {
  const network = `eip155:${chainId}` as const;
  const chain = {
    id: chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11' } },
  } as const;
  const submitting = Object.assign(account, { nonceManager });
  const client = createClient({
    account: submitting,
    chain,
    transport: http(rpcUrl, { retryCount: 0, timeout: timeoutMs }),
    pollingInterval: POLL_MS,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
  const { mine } = testActions({ mode: 'anvil' })(client);
  const signer = toFacilitatorEvmSigner(
    {
      ...client,
      address: account.address,
      verifyTypedData: (asked) => client.verifyTypedData(asked as VerifyTypedDataParameters),
    },
    {
      confirmationTimeoutMs: timeoutMs,
    },
  );
  const facilitator = new x402Facilitator()
    .register(network, new ExactEvmScheme(signer))
    .register(network, new UptoEvmScheme(signer))
    .register(network, new BatchSettlementEvmScheme(signer, account));
  // A payment is simulated on the newest block. A chain that makes a block only for a transaction may have a newest
  // block that is older than the time from which the payer says that the payment is good.
  const keepUp = async (): Promise<void> => {
    const { timestamp } = await client.getBlock();
    const age = Math.floor(Date.now() / 1000) - Number(timestamp);
    if (age > MAX_HEAD_AGE_SECONDS) await mine({ blocks: 1 });
  };
  return {
    async verify(payment, requirements) {
      await keepUp();
      return facilitator.verify(payment, requirements);
    },
    async settle(payment, requirements) {
      await keepUp();
      let settled = false;
      try {
        const outcome = await facilitator.settle(payment, requirements);
        settled = outcome.success;
        return outcome;
      } finally {
        // The transaction may not have arrived. If its nonce stayed counted, the chain would wait for it before the
        // next one.
        if (!settled) nonceManager.reset({ address: account.address, chainId });
      }
    },
    getSupported: async () => facilitator.getSupported() as SupportedResponse,
  };
}
