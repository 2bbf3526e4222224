import { z } from '@hono/zod-openapi';
import type { JsonObject } from '@tallystick/core';
import { FREE_READ_ERRORS, money, READ_PRICE } from '@tallystick/inference';
import type { CompressionTotals } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { READ_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { COMPUTE, READ_HEADERS } from './compute-shapes.ts';
import { moneySchema } from './compute-svc-shapes.ts';
import { count, usdc } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'store' | 'freeReads'>;

const totalsSchema = z
  .object({
    calls: z.int().openapi({ description: 'Number of chat calls.' }),
    changed_calls: z.int().openapi({ description: 'Number of chat calls whose prompts came out shorter.' }),
    tokens_before: count.openapi({ description: 'Tokens of the prompts as they came.' }),
    tokens_after: count.openapi({ description: 'Tokens of them as they were sent.' }),
    saved_tokens: z.int().openapi({ description: 'The difference.' }),
    lost_cache_tokens: count.openapi({
      description: 'Tokens that providers might have read from their caches and did not.',
    }),
    saving: moneySchema.openapi({ description: 'What was saved, in money.' }),
    share: moneySchema.openapi({ description: 'The part of the saving that was returned to callers.' }),
    methods: z
      .record(
        z.string(),
        z.object({
          calls: count.openapi({ description: 'Number of calls that it was used in.' }),
          tokens: z.int().openapi({ description: 'Tokens that it saved.' }),
        }),
      )
      .openapi({ description: 'By the name of the method.' }),
  })
  .openapi('CompressionTotals', { description: 'What compression did, summed up.' });

/** What compression did (specification 4.3), from the ledger. */
export function compressionRoutes({ store, freeReads, config }: Needs): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/compute/compression/stats',
      operationId: 'getCompressionStats',
      credentials: READ_CREDENTIALS,
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
            asset: usdc,
            service: totalsSchema.openapi({ description: 'Of all callers together.' }),
            // Not `.nullable()`, which would leave the referenced object as the only form.
            caller: z
              .union([
                totalsSchema.extend({
                  subject: z.string().openapi({ description: 'The DID, or the id of the API key.' }),
                }),
                z.null(),
              ])
              .openapi({ description: 'Of the caller; null where nobody is named.' }),
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
