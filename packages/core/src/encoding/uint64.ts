/** 8 bytes, big-endian, of an integer in [0, 2^53). */
export function toUint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** The integer that the 8 bytes at `offset` spell, or null past 2^53-1. */
export function uint64At(bytes: Uint8Array, offset: number): number | null {
  const value = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset);
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : null;
}
