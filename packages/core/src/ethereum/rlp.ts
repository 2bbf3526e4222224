import { concatBytes } from '../encoding/bytes.ts';

/** A value that RLP encodes: a byte string, or a list of such values. */
export type Rlp = Uint8Array | readonly Rlp[];

/** Recursive length prefix (Ethereum's yellow paper, appendix B). */
export function encodeRlp(item: Rlp): Uint8Array {
  if (!(item instanceof Uint8Array)) {
    const body = concatBytes(...item.map(encodeRlp));
    return concatBytes(prefix(0xc0, body.length), body);
  }
  const [first = 0x80] = item;
  return item.length === 1 && first < 0x80 ? item : concatBytes(prefix(0x80, item.length), item);
}

function prefix(kind: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(kind + length);
  const digits = bigEndian(BigInt(length));
  return concatBytes(Uint8Array.of(kind + 55 + digits.length), digits);
}

/** A number of at least 0 as big-endian bytes without leading zeros; 0 is no bytes at all. */
export function bigEndian(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0n; rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return Uint8Array.from(bytes);
}
