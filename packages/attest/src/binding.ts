import { sha256, toHex } from '@tallystick/core';

/** Bytes of the report data of SEV-SNP and TDX. */
const REPORT_DATA = 64;

/**
 * What a machine gives to be signed along so that its evidence names the key of an issuer: the SHA-256 of the public key, then zeros. Nitro
 * takes it as `user_data`; NVIDIA takes the first 32 bytes as nonce.
 * @param publicKey Ed25519, 32 bytes
 * @returns 128 hex characters
 */
export function reportDataOf(publicKey: Uint8Array): string {
  return toHex(sha256(publicKey)).padEnd(2 * REPORT_DATA, '0');
}

/** Whether the evidence names this key: its report data begin with the SHA-256 of it. */
export function namesKey(reportData: string | null, publicKey: Uint8Array): boolean {
  return reportData?.startsWith(toHex(sha256(publicKey))) ?? false;
}
