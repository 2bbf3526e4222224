import { z } from '@hono/zod-openapi';
import { PROFILES } from '@tallystick/core';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { priceLadder } from '../receipts/pricing.ts';
import { recommend } from '../receipts/rubric.ts';
import type { Services } from '../services.ts';

const GROUP = 'Choose';

/** What a receipt costs, and which one to take (specification 4.1). */
export function chooseRoutes({ config }: Services): Endpoint[] {
  return [pricing(priceLadder(config)), rubric()];
}

function pricing(ladder: ReturnType<typeof priceLadder>): Endpoint {
  return endpoint({
    method: 'get',
    path: '/pricing',
    group: GROUP,
    summary: 'The price ladder',
    description: 'Amounts are decimal text in US dollars. `per_day` null means without limit.',
    availability: 'live',
    answers: {
      200: {
        description: 'Prices of calls, limits of profiles, anchor tiers',
        schema: z
          .looseObject({
            currency: z.literal('USD'),
            profiles: z.array(
              z.object({
                profile: z.enum(PROFILES),
                price_usd: z.string(),
                unit: z.literal('call'),
                max_bytes: z.number().nullable(),
                retention_days: z.number(),
                default: z.boolean(),
              }),
            ),
            metering: z.object({
              path: z.string(),
              price_usd: z.string(),
              unit: z.literal('call'),
              max_bytes: z.number().nullable(),
              retention_days: z.number(),
            }),
          })
          .openapi('Pricing'),
      },
    },
    handle: () => json(ladder),
  });
}

function rubric(): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/rubric/select',
    group: GROUP,
    summary: 'Recommend a profile',
    description:
      'Regulated or kept long (by words in `intent`, or `counterparty.regulated`) takes pq; verifying, or an amount under 0.01 USD, nano; everything else standard.',
    availability: 'live',
    body: z.strictObject({
      intent: z.string().max(2000).optional(),
      amount: z
        .union([
          z.number().nonnegative(),
          z.string().regex(/^\d{1,15}(?:\.\d{1,18})?$/, 'Not a decimal amount of US dollars'),
        ])
        .optional(),
      counterparty: z
        .union([
          z.string().max(2048),
          z.strictObject({
            did: z.string().max(2048).optional(),
            name: z.string().max(500).optional(),
            jurisdiction: z.string().max(100).optional(),
            regulated: z.boolean().optional(),
          }),
        ])
        .optional(),
    }),
    example: { intent: 'sell a data set', amount: '19.90', counterparty: { regulated: false } },
    answers: {
      200: {
        description: 'The profile to take, the rule that chose it, and what else there is',
        schema: z
          .object({
            recommended_profile: z.enum(PROFILES),
            rule: z.enum(['regulated', 'verify', 'sub_cent', 'commerce']),
            reason: z.string(),
            price_usd: z.string(),
            alternatives: z.array(
              z.object({ profile: z.enum(PROFILES), price_usd: z.string(), when: z.string() }),
            ),
          })
          .openapi('Recommendation'),
      },
    },
    handle: ({ body }) => json(recommend(body)),
  });
}
