import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canonicalize, isObject, type SeenStatus, sha256Hex, utf8 } from '@tallystick/core';
import { tallyHome } from '@tallystick/sdk/home';
import { unreadable, unwritable, writeAtomically } from '../files.ts';
import { parseNamed } from '../input.ts';
import { UsageError } from '../output.ts';

/** The newest status seen of a service, and its issuer. */
export interface LastSeenStatus extends SeenStatus {
  readonly url: string;
  readonly issuerDid: string;
}

/** Path of the file for a URL, in the folder of the saved trust. */
export function statusFile(url: string): string {
  return join(tallyHome(), 'status', `${sha256Hex(utf8(url)).slice(0, 16)}.json`);
}

/** Reads the newest status seen of the service at a URL; null if there is no file. @throws UsageError if it is damaged */
export function readLastSeen(path: string, url: string): LastSeenStatus | null {
  if (!existsSync(path)) return null;
  const found = read(path);
  if (
    isObject(found) &&
    found.url === url &&
    typeof found.issuer_did === 'string' &&
    Number.isSafeInteger(found.sequence) &&
    typeof found.sha256 === 'string'
  ) {
    return { url, issuerDid: found.issuer_did, sequence: Number(found.sequence), sha256: found.sha256 };
  }
  throw new UsageError(
    `${path} does not hold a status seen at ${url}. Remove it, or choose another with --state.`,
  );
}

function read(path: string) {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  return parseNamed(bytes, path);
}

/** Forgets the newest status seen of the service at a URL, if any. */
export function forgetStatus(url: string): void {
  rmSync(statusFile(url), { force: true });
}

export function saveLastSeen(path: string, { url, issuerDid, sequence, sha256 }: LastSeenStatus): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(path, error);
  }
  writeAtomically(path, `${canonicalize({ url, issuer_did: issuerDid, sequence, sha256 })}\n`, 0o600);
}
