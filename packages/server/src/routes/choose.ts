import { z } from '@hono/zod-openapi';
import { PROFILES, RECOMMENDATION_RULES, type RecommendationRule } from '@tallystick/core';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { priceLadder } from '../receipts/price-ladder.ts';
import { recommend, recommendedBy } from '../receipts/rubric.ts';
import type { Services } from '../services.ts';

const GROUP = 'Choose';

/** What a receipt costs, and which one to take (specification 4.1). */
export function chooseRoutes({ config, money, pricesValidFrom }: Services): Endpoint[] {
  return [pricing(priceLadder(config, money, pricesValidFrom)), rubric()];
}

function pricing(ladder: ReturnType<typeof priceLadder>): Endpoint {
  return endpoint({
    method: 'get',
    path: '/pricing',
    group: GROUP,
    summary: 'The price ladder',
    description:
      'What everything costs and how it is paid. Amounts are decimal text in US dollars; `pay_by` names methods of `payment.methods`. `per_day` null means without limit, `payment` null that no payment is taken here. `valid_from` is when these prices were first asked.',
    availability: 'live',
    answers: {
      200: {
        description: 'Prices of calls, limits of profiles, anchor tiers',
        schema: z
          .looseObject({
            currency: z.literal('USD'),
            valid_from: z.string(),
            profiles: z.array(
              z.object({
                profile: z.enum(PROFILES),
                price_usd: z.string(),
                unit: z.literal('call'),
                max_bytes: z.number().nullable(),
                retention_days: z.number(),
                default: z.boolean(),
                pay_by: z.array(z.string()),
              }),
            ),
            metering: z.object({
              path: z.string(),
              price_usd: z.string(),
              unit: z.literal('call'),
              max_bytes: z.number().nullable(),
              retention_days: z.number(),
            }),
            anchor_tiers: z.array(
              z.looseObject({
                tier: z.string(),
                verifier: z.string(),
                verifier_available: z.boolean(),
                monthly_usd: z.string().nullable(),
                annual_usd: z.string().nullable(),
                pay_by: z.array(z.string()),
              }),
            ),
            reads: z.looseObject({
              price_usd: z.string(),
              free_per_day: z.int().nullable(),
              free_per_day_by_address: z.int().nullable(),
            }),
            compute: z.looseObject({ share_of_savings_pct: z.record(z.string(), z.int()) }),
            payment: z
              .looseObject({
                network: z.string(),
                token: z.string(),
                treasury: z.string(),
                confirmations: z.int(),
                methods: z.looseObject({}),
              })
              .nullable(),
          })
          .openapi('Pricing'),
      },
    },
    handle: () => json(ladder),
  });
}

const takes = (rule: RecommendationRule): string => recommendedBy(rule).name;

function rubric(): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/rubric/select',
    group: GROUP,
    summary: 'Recommend a profile',
    description: `The first rule that applies decides. \`regulated\`: \`counterparty.regulated\`, or words of law, supervision, health, finance or government in \`intent\` or in the counterparty’s text, take ${takes('regulated')}. \`retention\`: words in \`intent\` that ask for more than a year take ${takes('retention')}. \`verify\`: an \`intent\` to verify that names no deal takes ${takes('verify')}. \`sub_cent\`: an amount under 0.01 USD takes ${takes('sub_cent')}. \`commerce\`: everything else takes ${takes('commerce')}. Words are read in English; what the text denies (“not regulated”, “no long retention needed”) does not count. A counterparty as text is read unless it is a DID; of an object \`name\` and \`jurisdiction\` are read, unless \`regulated\` is false; \`did\` identifies and decides nothing.`,
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
            rule: z.enum(RECOMMENDATION_RULES),
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
