import { sha256Hex, TallyError } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';

/**
 * Returns the evidence of hardware that a receipt names, once its SHA-256 is found right. `tally attest verify` judges it.
 * @param attestation `hardware.attestation` of the receipt, `<type>:sha256:<64 hex>`, or the 64 hex characters alone
 * @throws invalid_field; attestation_invalid for an answer with another SHA-256; ServiceError (not_found)
 */
export async function getAttestation(
  transport: Transport,
  attestation: string,
  call?: CallOptions,
): Promise<Uint8Array> {
  const [, sha256] = /^(?:[a-z0-9._-]+:sha256:)?([0-9a-f]{64})$/.exec(attestation) ?? [];
  if (sha256 === undefined)
    throw new TallyError('invalid_field', 'An attestation is <type>:sha256:<64 hex characters>.', {
      field: 'attestation',
    });
  const evidence = await transport.download(`/v1/attestations/${sha256}`, 'application/octet-stream', call);
  if (sha256Hex(evidence) === sha256) return evidence;
  throw new TallyError('attestation_invalid', 'The service answered with evidence of another SHA-256.');
}
