import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';
import { signerOf } from './recover.ts';
import { bigEndian, encodeRlp, type Rlp } from './rlp.ts';

/** Members of a transaction that follow from its hash alone. */
export interface HashedTransaction {
  readonly chainId: number;
  /** The account that signed it: `0x` and 40 hex in lower case. */
  readonly from: string;
  /** `0x` hex in lower case. */
  readonly data: string;
}

/**
 * Reads an EIP-1559 transaction as a node returns it (`eth_getTransactionByHash`). The hash covers all that is read here,
 * and the sender follows from the signature, so that the node is not trusted for them.
 * @param txHash `0x` and 64 hex in lower case
 * @returns null unless the members are those of an EIP-1559 transaction with that hash
 */
export function readNodeTransaction(transaction: JsonValue, txHash: string): HashedTransaction | null {
  const fields = isObject(transaction) ? fieldsOf(transaction) : null;
  if (fields === null) return null;
  const { unsigned, yParity, r, s, chainId, data } = fields;
  if (yParity > 1n || chainId > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  const signature = [yParity, r, s].map(bigEndian);
  if (`0x${toHex(keccakOf([...unsigned, ...signature]))}` !== txHash) return null;
  const from = signerOf(keccakOf(unsigned), { r, s, yParity });
  return from === null ? null : { chainId: Number(chainId), from, data };
}

/** The Keccak-256 hash of a type-2 transaction's members, which come in the order of EIP-1559. */
function keccakOf(members: readonly Rlp[]): Uint8Array {
  return keccak_256(concatBytes(Uint8Array.of(2), encodeRlp(members)));
}

function fieldsOf(transaction: JsonObject) {
  const { to = null, input, accessList, v } = transaction;
  const numbers = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'value', 'r', 's'].map(
    (name) => quantity(transaction[name]),
  );
  const [chainId, nonce, tip, fee, gas, value, r, s] = numbers.filter((one) => one !== null);
  const yParity = quantity(transaction.yParity ?? v);
  const recipient = to === null ? new Uint8Array() : bytesOf(to, 20);
  const data = bytesOf(input);
  const access = accessOf(accessList);
  if (s === undefined || r === undefined || value === undefined || gas === undefined) return null;
  if (fee === undefined || tip === undefined || nonce === undefined || chainId === undefined) return null;
  if (yParity === null || recipient === null || data === null || access === null) return null;
  const first = [chainId, nonce, tip, fee, gas].map(bigEndian);
  const unsigned: Rlp[] = [...first, recipient, bigEndian(value), data, access];
  return { unsigned, yParity, r, s, chainId, data: `0x${toHex(data)}` };
}

function accessOf(list: JsonValue | undefined): Rlp | null {
  if (!Array.isArray(list)) return null;
  const entries = list.map((entry): Rlp | null => {
    const { address, storageKeys } = isObject(entry) ? entry : {};
    const account = bytesOf(address, 20);
    const keys = Array.isArray(storageKeys) ? storageKeys.map((key) => bytesOf(key, 32)) : [null];
    const known = keys.filter((key) => key !== null);
    return account === null || known.length < keys.length ? null : [account, known];
  });
  const known = entries.filter((entry) => entry !== null);
  return known.length < entries.length ? null : known;
}

/** Parses a number as JSON-RPC writes it; null for anything else. */
function quantity(value: JsonValue | undefined): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : null;
}

/** Parses bytes as JSON-RPC writes them, of any length when `length` is absent; null for anything else. */
function bytesOf(value: JsonValue | undefined, length?: number): Uint8Array | null {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return null;
  const bytes = fromHex(value.slice(2).toLowerCase());
  return length === undefined || bytes.length === length ? bytes : null;
}
