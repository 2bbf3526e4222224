import { anchoredHash, fromHex, parseJson, utf8 } from '@tallystick/core';

/** The anchored hash of a receipt's JCS text: 32 bytes. */
export function hashOf(receipt: string): Uint8Array {
  return fromHex(anchoredHash(parseJson(utf8(receipt))), 32);
}
