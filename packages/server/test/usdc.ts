import { encodeFunctionData, type Hex } from 'viem';
import { type DevAccountName, devAccount } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC } from '../../chain/src/token/dev-token.ts';
import { USDC_ABI } from '../../chain/src/token/usdc.ts';
import { callRpc } from './anvil.ts';

interface Sending {
  readonly to: string;
  /** Base units. */
  readonly amount: bigint;
  /** Follows the call's arguments. */
  readonly memo?: string;
  /** The sender's next one, where it is not given. */
  readonly nonce?: number;
  /** Whether the transaction is waited for; else it may stay in the pool. */
  readonly mined?: boolean;
}

/** Sends test USDC. Resolves to the transaction's hash. */
export function sendUsdc(rpcUrl: string, from: DevAccountName, sending: Sending): Promise<Hex> {
  const { to, amount, memo = '' } = sending;
  const args = [to as Hex, amount] as const;
  const call = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args });
  return sendCall(rpcUrl, from, `${call}${Buffer.from(memo, 'utf8').toString('hex')}`, sending);
}

/** Sends a transaction to the test USDC's contract. Resolves to its hash, also when it is reverted. */
export async function sendCall(
  rpcUrl: string,
  from: DevAccountName,
  data: Hex,
  { nonce, mined = true }: Pick<Sending, 'nonce' | 'mined'> = {},
): Promise<Hex> {
  const account = devAccount(from);
  const next = nonce ?? Number(await callRpc(rpcUrl, 'eth_getTransactionCount', [account.address, 'latest']));
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: Number(await callRpc(rpcUrl, 'eth_chainId', [])),
    nonce: next,
    to: DEV_USDC,
    data,
    gas: 200_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  });
  if (!mined) return (await callRpc(rpcUrl, 'eth_sendRawTransaction', [raw])) as Hex;
  const receipt = await callRpc(rpcUrl, 'eth_sendRawTransactionSync', [raw]);
  return (receipt as { transactionHash: Hex }).transactionHash;
}
