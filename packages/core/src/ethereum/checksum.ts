import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8 } from '../encoding/bytes.ts';
import { toHex } from '../encoding/hex.ts';

/**
 * Whether the case of an address, `0x` and 40 hex, is its checksum (ERC-55), or the address has no capital letter and thus no
 * checksum.
 */
export function isChecksummed(address: string): boolean {
  const lower = address.slice(2).toLowerCase();
  const hash = toHex(keccak_256(utf8(lower)));
  const right = lower.replace(/[a-f]/g, (letter, at) =>
    hash.charAt(at) >= '8' ? letter.toUpperCase() : letter,
  );
  return address === `0x${lower}` || address === `0x${right}`;
}
