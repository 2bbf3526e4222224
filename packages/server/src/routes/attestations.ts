import { readFile } from 'node:fs/promises';
import { z } from '@hono/zod-openapi';
import { sha256Hex, TallyError } from '@tallystick/core';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';

const BINARY = 'application/octet-stream';

/** The evidence of hardware that receipts name. */
export function attestationRoutes({ attestations }: Pick<Services, 'attestations'>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/attestations/{sha256}',
      operationId: 'getAttestation',
      group: 'Issuers and trust',
      summary: 'Read the evidence of hardware that a receipt names',
      description:
        'The evidence whose SHA-256 stands in `hardware.attestation` of a receipt, byte for byte: a report of SEV-SNP with its certificates, a quote of TDX, a document of Nitro, or the JSON of NVIDIA. `tally attest verify` judges it offline. Needs no key.',
      availability: 'live',
      params: z.object({
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .openapi({
            description: 'SHA-256 of the evidence, 64 lower-case hex characters.',
            example: 'cea50a20d2261b339c3090c889c9af37b0f5ce8f58f74420d5a971b93e3a8f96',
          }),
      }),
      answers: {
        200: {
          description: 'The evidence',
          contentType: BINARY,
          schema: z.string().openapi({ format: 'binary' }),
          headers: { 'Cache-Control': '`immutable`: it may be kept for a year.' },
        },
      },
      errors: ['not_found', 'invalid_field'],
      async handle({ headers, params: { sha256 } }) {
        const path = attestations().get(sha256);
        const bytes = path === undefined ? null : await readFile(path).catch(() => null);
        // The file may have changed since the folder was read.
        if (bytes === null || sha256Hex(bytes) !== sha256) {
          headers['cache-control'] = 'no-store';
          throw new TallyError('not_found', 'The service keeps no evidence with this SHA-256.');
        }
        return {
          status: 200,
          body: new Uint8Array(bytes),
          contentType: BINARY,
          headers: { 'cache-control': 'public, max-age=31536000, immutable' },
        };
      },
    }),
  ];
}
