import { sha256, toHex } from '@tallystick/core';
import type { AttestationType } from './evidence.ts';

/** Bytes of the report data of SEV-SNP and TDX. */
const REPORT_DATA = 64;

/**
 * What a machine gives to be signed along so that its evidence names the key of an issuer: the SHA-256 of the public key, then zeros. Nitro
 * takes it as `user_data`. Evidence of NVIDIA can name no key.
 * @param publicKey Ed25519, 32 bytes
 * @returns 128 hex characters
 */
export function reportDataOf(publicKey: Uint8Array): string {
  return toHex(sha256(publicKey)).padEnd(2 * REPORT_DATA, '0');
}

/** Whether evidence names this key: what the software gave to be signed begins with the SHA-256 of it. */
export function namesKey(type: AttestationType, reportData: string | null, publicKey: Uint8Array): boolean {
  // The nonce of a GPU comes from whoever asked it, not from what runs there.
  if (type === 'nvidia') return false;
  return reportData?.startsWith(toHex(sha256(publicKey))) ?? false;
}
