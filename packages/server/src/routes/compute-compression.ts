import { z } from '@hono/zod-openapi';
import type { JsonObject } from '@tallystick/core';
import { money } from '../compute/billing.ts';
import { FREE_READ_ERRORS, READ_PRICE } from '../compute/free-reads.ts';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import type { CompressionTotals } from '../store/ledger-store.ts';
import { COMPUTE, moneySchema, READ_HEADERS } from './compute-shapes.ts';

const totalsSchema = z
  .object({
    calls: z.int().openapi({ description: 'Number of chat calls.' }),
    changed_calls: z.int().openapi({ description: 'Number of chat calls whose prompts came out shorter.' }),
    tokens_before: z.int(),
    tokens_after: z.int(),
    saved_tokens: z.int(),
    lost_cache_tokens: z.int(),
    saving: moneySchema,
    share: moneySchema.openapi({ description: 'The part of the saving that was returned to callers.' }),
    methods: z.record(z.string(), z.object({ calls: z.int(), tokens: z.int() })),
  })
  .openapi('CompressionTotals');

/** What compression did (specification 4.3), from the ledger. */
export function compressionRoutes({ store, freeReads, config }: Services): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/compute/compression/stats',
      group: COMPUTE,
      summary: 'Read what compression saved',
      description:
        'Totals over all callers, from the ledger. With an API key, or a DID that a message signature (RFC 9421) proves, also the caller’s own totals; in development the DID needs no proof.',
      availability: 'live',
      headers: READ_HEADERS,
      price: READ_PRICE,
      answers: {
        200: {
          description: 'The totals',
          schema: z.object({
            asset: z.literal('USDC'),
            service: totalsSchema,
            // Not `.nullable()`, which would leave the referenced object as the only form.
            caller: z.union([totalsSchema.extend({ subject: z.string() }), z.null()]),
          }),
        },
      },
      errors: FREE_READ_ERRORS,
      async handle(call) {
        const { key, did, proved } = await freeReads.admit(call);
        const isOwn = proved || config.mode === 'development';
        const subject = (isOwn ? did : null) ?? key?.id ?? null;
        const [service, own] = await Promise.all([
          store.ledger.compression(null),
          subject === null ? null : store.ledger.compression(subject),
        ]);
        return json({
          asset: 'USDC',
          service: totalsDocument(service),
          caller: own === null ? null : { subject, ...totalsDocument(own) },
        });
      },
    }),
  ];
}

function totalsDocument(totals: CompressionTotals): JsonObject {
  const { calls, changedCalls, tokensBefore, tokensAfter, lostCacheTokens, saving, share, methods } = totals;
  return {
    calls,
    changed_calls: changedCalls,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    saved_tokens: tokensBefore - tokensAfter,
    lost_cache_tokens: lostCacheTokens,
    saving: money(saving),
    share: money(share),
    methods: Object.fromEntries(methods.map(({ method, calls, tokens }) => [method, { calls, tokens }])),
  };
}
