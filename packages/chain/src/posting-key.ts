import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fromHex, TallyError, toHex } from '@tallystick/core';
import { othersMayRead } from '@tallystick/kit';

/** Reads the posting account's key: 32 bytes. @throws invalid_field naming the file, never its contents */
export function readPostingKey(path: string): Uint8Array {
  return readChainKey(path, { name: 'posting key', field: 'posting_key' });
}

/**
 * Reads a secp256k1 key: 32 bytes as hex, `0x` before it allowed, in a file that no other users may read.
 * @param what name of the key in errors
 * @throws invalid_field naming the file, never its contents
 */
export function readChainKey(
  path: string,
  { name, field }: { readonly name: string; readonly field: string },
): Uint8Array {
  if (othersMayRead(path)) {
    throw malformed(`Other users can read the ${name} ${path}. Make it private: chmod 600 ${path}`, field);
  }
  const text = readFileSync(path, 'utf8').trim().replace(/^0x/, '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(text)) throw malformed(`The ${name} ${path} is not 32 bytes in hex.`, field);
  return fromHex(text, 32);
}

/** Creates the key file, of mode 0600, if there is none; of several processes that start at once, one writes it. */
export function createPostingKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`;
  writeFileSync(temporary, `${toHex(randomBytes(32))}\n`, { flag: 'wx', mode: 0o600, flush: true });
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
}

function malformed(message: string, field: string): TallyError {
  return new TallyError('invalid_field', message, { field });
}
