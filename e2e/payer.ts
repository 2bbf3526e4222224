import { BATCH_SETTLEMENT_ADDRESS } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';

export { BATCH_SETTLEMENT_ADDRESS };

type SchemeName = 'exact' | 'batch-settlement' | 'upto';

/** A wallet of the development chain with the real x402 client around `fetch`. */
export interface Payer {
  readonly address: `0x${string}`;
  readonly client: x402Client;
  readonly fetch: typeof fetch;
}

/** Creates a payer. @param deposit base units with which a channel is opened */
export function payer(
  name: 'alice' | 'bob',
  rpcUrl: string,
  {
    schemes = ['exact', 'batch-settlement', 'upto'],
    deposit,
    salt,
  }: {
    readonly schemes?: readonly SchemeName[];
    readonly deposit?: bigint;
    /** Salt of the channel: 32 bytes, hex. */
    readonly salt?: `0x${string}`;
  } = {},
): Payer {
  const account = devAccount(name);
  const chain = createPublicClient({ transport: http(rpcUrl), pollingInterval: 50, cacheTime: 0 });
  const signer = {
    address: account.address,
    signTypedData: (message: never) => account.signTypedData(message),
    readContract: (call: never) => chain.readContract(call),
  } as never;
  const makers = {
    exact: () => new ExactEvmScheme(signer),
    'batch-settlement': () =>
      new BatchSettlementEvmScheme(signer, {
        ...(deposit !== undefined && { depositStrategy: async () => String(deposit) }),
        ...(salt !== undefined && { salt }),
      }),
    upto: () => new UptoEvmScheme(signer),
  };
  const client = new x402Client();
  client.setSpendControls({ allowedAssets: true, maxAmountPerPayment: false });
  for (const scheme of schemes) client.register('eip155:31337', makers[scheme]());
  return {
    address: account.address,
    client,
    fetch: wrapFetchWithPayment(globalThis.fetch, client),
  };
}

/** Decodes `PAYMENT-RESPONSE`. */
export function settlementOf(response: Response): ReturnType<typeof decodePaymentResponseHeader> {
  return decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
}
