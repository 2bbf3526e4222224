import { x402Facilitator } from '@x402/core/facilitator';
import { HTTPFacilitatorClient } from '@x402/core/http';
import type { FacilitatorClient } from '@x402/core/server';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import { createClient, http, publicActions, walletActions } from 'viem';
import { nonceManager, type PrivateKeyAccount } from 'viem/accounts';

const POLL_MS = 100;
/** How old the newest block of a development chain may be: about what it is on a chain that makes blocks all the time. */
const MAX_HEAD_AGE_SECONDS = 5;

/** A facilitator that answers over HTTP. What it says is believed of nothing: see chain-watch.ts. */
export function httpFacilitator(url: string, timeoutMs: number): FacilitatorClient {
  return new HTTPFacilitatorClient({ url, timeoutMs });
}

interface LocalOptions {
  /** Of a development chain. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Submits and pays the gas; signs for claims, too. */
  readonly account: PrivateKeyAccount;
  /** How long a transaction is waited for. */
  readonly timeoutMs: number;
}

/** A facilitator in this process, for a development chain, which it gives an empty block where the newest is old. */
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
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as never, {
    confirmationTimeoutMs: timeoutMs,
  });
  const facilitator = new x402Facilitator()
    .register(network, new ExactEvmScheme(signer))
    .register(network, new UptoEvmScheme(signer))
    .register(network, new BatchSettlementEvmScheme(signer, account));
  // A payment is simulated on the newest block. On a chain that makes a block only for a transaction, that block may be
  // older than the moment from which the payer says that the payment is good.
  const keepUp = async (): Promise<void> => {
    const { timestamp } = await client.getBlock();
    const age = Math.floor(Date.now() / 1000) - Number(timestamp);
    if (age > MAX_HEAD_AGE_SECONDS) await client.request({ method: 'evm_mine' } as never);
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
        // The nonce of a transaction that may not have come through: with the next one the chain would wait for it.
        if (!settled) nonceManager.reset({ address: account.address, chainId });
      }
    },
    getSupported: async () => facilitator.getSupported() as never,
  };
}
