import { anchoredHash, fromBase64url, fromHex, TallyError } from '@tallystick/core';
import { named, readJson } from '../input.ts';
import { UsageError } from '../output.ts';

const HEX = /^(?:sha256:)?([0-9a-f]{64})$/;
const BASE64URL = /^[\w-]{43}$/;

/** Reads a hash of 32 bytes as people write it (hex with or without `sha256:`, or base64url); null for any other text. */
export function hashIn(text: string): Uint8Array | null {
  const [, hex] = HEX.exec(text) ?? [];
  if (hex !== undefined) return fromHex(hex, 32);
  if (!BASE64URL.test(text)) return null;
  try {
    return fromBase64url(text, 32);
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}

/** Reads a hash from the command line: 32 bytes. @throws UsageError */
export function hashOption(text: string): Uint8Array {
  const hash = hashIn(text);
  if (hash !== null) return hash;
  throw new UsageError(
    `“${text}” is not a SHA-256: 64 hex digits in lower case, or 43 characters of base64url.`,
  );
}

/** The hash that an anchor of the receipt in a file proves: 32 bytes. @throws UsageError, json_*, not_a_receipt */
export async function hashOfFile(path: string): Promise<Uint8Array> {
  const document = await readJson(path);
  try {
    return fromHex(anchoredHash(document), 32);
  } catch (error) {
    throw named(error, path);
  }
}
