import type { Broadcast, Fees, GasPrice, Inclusion, SignedTransaction } from '@tallystick/chain';
import { answers, readRefusal } from '@tallystick/chain';
import { chainReader, openRpc, type Rpc, USDC_ABI, unavailable } from '@tallystick/chain/evm';
import { TallyError, toHex } from '@tallystick/core';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData, getAddress, keccak256, numberToHex } from 'viem/utils';

/** What the chain tells about payouts, without a key. Errors are those of `ChainReader`. */
export interface PayoutChain {
  inclusion(txHash: string): Promise<Inclusion | null>;
  /** The height up to which blocks are final; -1 when none is. */
  finalHeight(): Promise<number>;
  /** The number of transactions of the account up to a block, which is the next nonce after it. */
  nonceAt(address: string, height: number | 'latest'): Promise<number>;
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
  const account = accountOf(options.secretKey);
  return {
    ...payoutChain(rpc, options),
    address: account.address,
    fees: (payment, above) => askFees(rpc, { from: account.address, to: usdc, data: callOf(payment) }, above),
    async sign(payment, nonce, { gasLimit, maxFeePerGas, maxPriorityFeePerGas }) {
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to: usdc,
        value: 0n,
        data: callOf(payment),
        gas: gasLimit,
        maxFeePerGas,
        maxPriorityFeePerGas,
      });
      return { nonce, txHash: keccak256(raw), raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
    },
  };
}

function payoutChain(rpc: Rpc, { chainId, confirmations }: PayoutChainOptions): PayoutChain {
  const reader = chainReader(rpc, { chainId, finality: { kind: 'confirmations', count: confirmations } });
  return {
    inclusion: (txHash) => reader.inclusion(txHash),
    finalHeight: () => reader.finalHeight(),
    nonceAt: (address, height) => {
      const block = height === 'latest' ? height : numberToHex(height);
      return rpc.call('eth_getTransactionCount', [address, block], answers.integer);
    },
    broadcast: (raw) => broadcast(rpc, raw),
  };
}

function accountOf(secretKey: Uint8Array): PrivateKeyAccount {
  try {
    return privateKeyToAccount(`0x${toHex(secretKey)}`);
  } catch {
    throw new TallyError('invalid_field', 'The treasury’s key is not a secp256k1 secret key of 32 bytes.', {
      field: 'treasury_key',
    });
  }
}

function callOf({ to, amount }: TokenPayment): `0x${string}` {
  return encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [getAddress(to), amount] });
}

async function askFees(
  rpc: Rpc,
  call: { readonly from: string; readonly to: string; readonly data: string },
  above?: GasPrice,
): Promise<Fees> {
  const [block, tip, gas] = await Promise.all([
    rpc.call('eth_getBlockByNumber', ['latest', false], answers.block),
    rpc.call('eth_maxPriorityFeePerGas', [], answers.quantity),
    // Refuses a transfer that would fail: of more than the treasury holds, or to an address that may not be paid.
    rpc.call('eth_estimateGas', [call], answers.quantity),
  ]);
  if (block.baseFeePerGas === undefined)
    throw unavailable('eth_getBlockByNumber', 'answered with a block without a base fee (EIP-1559)');
  const current = { maxFeePerGas: 2n * block.baseFeePerGas + tip, maxPriorityFeePerGas: tip };
  return {
    ...(above === undefined ? current : raised(current, above)),
    gasLimit: larger(gas + gas / 4n, TRANSFER_GAS),
  };
}

/** The strictest nodes want both prices of a replacement to be an eighth higher. */
function raised(price: GasPrice, above: GasPrice): GasPrice {
  const more = (now: bigint, last: bigint): bigint => larger(now, last + last / 8n + 1n);
  return {
    maxFeePerGas: more(price.maxFeePerGas, above.maxFeePerGas),
    maxPriorityFeePerGas: more(price.maxPriorityFeePerGas, above.maxPriorityFeePerGas),
  };
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  const method = 'eth_sendRawTransaction';
  const answer = await rpc.ask(method, [raw], answers.hash);
  if ('refusal' in answer) return readRefusal(answer.refusal.reason);
  if (answer.result !== keccak256(raw as `0x${string}`))
    throw unavailable(method, 'answered with a different hash');
  return { kind: 'accepted' };
}
