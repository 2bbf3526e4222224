import type { Broadcast, Fees, GasPrice, Inclusion, SignedTransaction } from '@tallystick/chain';
import { answers } from '@tallystick/chain';
import {
  accountOf,
  askFees,
  broadcast,
  chainReader,
  openRpc,
  type Rpc,
  signCall,
  USDC_ABI,
} from '@tallystick/chain/evm';
import { encodeFunctionData, getAddress, numberToHex } from 'viem/utils';

/** What the chain tells about payouts, without a key. Errors are those of `ChainReader`. */
export interface PayoutChain {
  inclusion(txHash: string): Promise<Inclusion | null>;
  /** The height up to which blocks are final; -1 when none is. */
  finalHeight(): Promise<number>;
  /**
   * The number of transactions of the account up to a block, which is the next nonce after it. `pending` counts those too that the
   * node knows and no block has.
   */
  nonceAt(address: string, height: number | 'latest' | 'pending'): Promise<number>;
  broadcast(raw: string): Promise<Broadcast>;
}

/** The treasury's account, which signs transfers. Like `Chain`, it keeps no state. */
export interface Wallet extends PayoutChain {
  /** EIP-55 checksummed. */
  readonly address: string;
  /** The current price of a transfer; with `above`, at least an eighth more than that. */
  fees(transfer: TokenPayment, above?: GasPrice): Promise<Fees>;
  /** Signs a transfer, without a request. The same input gives the same transaction. */
  sign(transfer: TokenPayment, nonce: number, fees: Fees): Promise<SignedTransaction>;
}

interface TokenPayment {
  readonly to: string;
  /** Base units. */
  readonly amount: bigint;
}

/**
 * More gas than a transfer of USDC takes, except on rollups that count their costs as gas, which the estimate includes.
 * The estimate alone may be too low: a node that includes pending transactions finds the receiver's balance already
 * written.
 */
const TRANSFER_GAS = 120_000n;

export interface PayoutChainOptions {
  /** May hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** The number of blocks that make a transfer final, including the one that contains it. */
  readonly confirmations: number;
  readonly timeoutMs: number;
}

export function openPayoutChain(options: PayoutChainOptions): PayoutChain {
  return payoutChain(openRpc(options.rpcUrl, options.timeoutMs), options);
}

/** Opens the wallet of a key. @param secretKey secp256k1, 32 bytes @throws invalid_field when it is not a key */
export function openWallet(
  options: PayoutChainOptions & { readonly usdc: string; readonly secretKey: Uint8Array },
): Wallet {
  const { chainId } = options;
  const rpc = openRpc(options.rpcUrl, options.timeoutMs);
  const usdc = getAddress(options.usdc);
  const account = accountOf(options.secretKey, ['treasury_key', 'The treasury’s key']);
  return {
    ...payoutChain(rpc, options),
    address: account.address,
    fees(payment, above) {
      const call = { from: account.address, to: usdc, data: callOf(payment) };
      // Refuses a transfer that would fail: of more than the treasury holds, or to who may not be paid.
      const estimate = rpc.call('eth_estimateGas', [call], answers.quantity);
      return askFees(rpc, { estimate, least: TRANSFER_GAS, above });
    },
    sign: (payment, nonce, fees) =>
      signCall(account, { chainId, nonce, to: usdc, data: callOf(payment) }, fees),
  };
}

function payoutChain(rpc: Rpc, { chainId, confirmations }: PayoutChainOptions): PayoutChain {
  const reader = chainReader(rpc, { chainId, finality: { kind: 'confirmations', count: confirmations } });
  return {
    inclusion: (txHash) => reader.inclusion(txHash),
    finalHeight: () => reader.finalHeight(),
    nonceAt: (address, height) => {
      const block = typeof height === 'string' ? height : numberToHex(height);
      return rpc.call('eth_getTransactionCount', [address, block], answers.integer);
    },
    broadcast: (raw) => broadcast(rpc, raw),
  };
}

function callOf({ to, amount }: TokenPayment): `0x${string}` {
  return encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [getAddress(to), amount] });
}
