import type { PrivateKeyAccount } from 'viem/accounts';
import { keccak256, numberToHex, parseTransaction, recoverAddress, serializeTransaction } from 'viem/utils';
import type { NodeTransaction } from './answers.ts';
import type { Fees, SignedTransaction } from './chain.ts';

const BASE_GAS = 21_000n;
const FLOOR_GAS_PER_BYTE = 40n;

/** Most gas that a transfer with calldata of this length costs on Ethereum (EIP-7623's floor). */
export function transferGas(dataLength: number): bigint {
  return BASE_GAS + FLOOR_GAS_PER_BYTE * BigInt(dataLength);
}

interface Call {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: `0x${string}`;
  /** `0x` hex. */
  readonly data: `0x${string}`;
}

/** Signs a transaction (EIP-1559) that sends no coin. Asks nobody; the same again gives the same. */
export async function signCall(
  account: PrivateKeyAccount,
  call: Call,
  { gasLimit, maxFeePerGas, maxPriorityFeePerGas }: Fees,
): Promise<SignedTransaction> {
  const raw = await account.signTransaction({
    ...call,
    type: 'eip1559',
    value: 0n,
    gas: gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  return { nonce: call.nonce, txHash: keccak256(raw), raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

/** Members of a signed raw transaction. */
export interface RawTransaction {
  readonly txHash: string;
  readonly nonce: number;
  /** `0x` hex. */
  readonly data: string;
}

/** Reads a signed raw EIP-1559 transaction (`0x` hex); null for anything else. Its signature is not checked. */
export function decodeRaw(raw: string): RawTransaction | null {
  try {
    const { r, nonce, data = '0x' } = parseTransaction(raw as `0x02${string}`);
    return r === undefined ? null : { txHash: keccak256(raw as `0x${string}`), nonce: nonce ?? 0, data };
  } catch {
    return null;
  }
}

/** Recovers the account that signed. Throws what viem throws for text that is not a signed EIP-1559 transaction. */
export function senderOfRaw(raw: string): Promise<string> {
  const { r, s, yParity, ...unsigned } = parseTransaction(raw as `0x02${string}`);
  if (r === undefined || s === undefined || yParity === undefined) {
    throw new TypeError('The transaction is not signed.');
  }
  return recoverAddress({
    hash: keccak256(serializeTransaction({ ...unsigned, type: 'eip1559' })),
    signature: { r, s, yParity },
  });
}

/**
 * The account that signed a transaction that a node returned, or null if its members do not hash to `txHash`. If they do,
 * all of them are authentic.
 */
export async function signerOf(transaction: NodeTransaction, txHash: string): Promise<string | null> {
  const { r, s, v, yParity = v, input, ...fields } = transaction;
  if (yParity !== 0n && yParity !== 1n) return null;
  const raw = serializeTransaction(
    { ...fields, type: 'eip1559', data: input },
    { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity: Number(yParity) },
  );
  return keccak256(raw) === txHash ? senderOfRaw(raw) : null;
}
