import { z } from '@hono/zod-openapi';
import { PROFILES, RECOMMENDATION_RULES, type RecommendationRule } from '@tallystick/core';
import { recommend, recommendedBy } from '@tallystick/receipts';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { count, dollars, evmAddress, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'ladder'>;

const GROUP = 'Choose';

/** What a receipt costs, and which profile to choose (specification 4.1). */
export function chooseRoutes({ ladder }: Needs): Endpoint[] {
  return [pricing(ladder), rubric()];
}

const payBy = z.array(z.string()).openapi({ description: 'How it can be paid: names in `payment.methods`.' });

const receiptPrice = {
  price_usd: dollars.openapi({ description: 'The price of one.' }),
  unit: z.literal('call').openapi({ description: 'What is paid for.' }),
  max_bytes: count
    .nullable()
    .openapi({ description: 'The most bytes of canonical JSON; null without limit.' }),
  retention_days: count.openapi({ description: 'For how long it is kept, in days.' }),
};

function pricing(ladder: Needs['ladder']): Endpoint {
  return endpoint({
    method: 'get',
    path: '/pricing',
    operationId: 'getPricing',
    group: GROUP,
    summary: 'The price ladder',
    description:
      'All prices and payment methods. Amounts are decimal text in US dollars; `pay_by` names methods of `payment.methods`. `per_day` null means unlimited; `payment` null means that this service takes no payments. `valid_from` is the time from which these prices apply.',
    availability: 'live',
    answers: {
      200: {
        description: 'Prices of calls, limits of profiles, anchor tiers',
        schema: z
          .looseObject({
            currency: z.literal('USD').openapi({ description: 'Of all amounts here.' }),
            valid_from: timestamp.openapi({ description: 'Since when these prices hold.' }),
            profiles: z
              .array(
                z.object({
                  profile: z.enum(PROFILES).openapi({ description: 'The profile.' }),
                  ...receiptPrice,
                  default: z.boolean().openapi({ description: 'Whether it is the one when none is named.' }),
                  pay_by: payBy,
                }),
              )
              .openapi({ description: 'Receipts of each profile.' }),
            metering: z
              .object({
                path: z.string().openapi({ description: 'Where they are minted.' }),
                ...receiptPrice,
                pay_by: payBy,
              })
              .openapi({ description: 'Metering receipts.' }),
            anchor_tiers: z
              .array(
                z.looseObject({
                  tier: z.string().openapi({ description: 'The tier.', example: 'pro' }),
                  verifier: z.string().openapi({ description: 'The verifier that comes with it.' }),
                  verifier_available: z.boolean().openapi({ description: 'Whether this service has that.' }),
                  monthly_usd: dollars.nullable().openapi({ description: 'A month’s price.' }),
                  annual_usd: dollars.nullable().openapi({ description: 'A year’s price, paid at once.' }),
                  pay_by: payBy,
                }),
              )
              .openapi({ description: 'What keys of each tier cost, and what they allow.' }),
            reads: z
              .looseObject({
                price_usd: dollars.openapi({ description: 'Of a read beyond the free ones.' }),
                free_per_day: count.nullable().openapi({ description: 'Free reads a UTC day of each DID.' }),
                free_per_day_by_address: count
                  .nullable()
                  .openapi({ description: 'Free reads a UTC day of all DIDs at one address.' }),
              })
              .openapi({ description: 'Reads of `/v1/compute`.' }),
            compute: z
              .looseObject({
                share_of_savings_pct: z
                  .record(z.string(), z.int())
                  .openapi({ description: 'By member tier, in percent.' }),
              })
              .openapi({ description: 'Calls of models.' }),
            payment: z
              .looseObject({
                network: z.string().openapi({ description: 'CAIP-2.', example: 'eip155:8453' }),
                token: evmAddress.openapi({ description: 'The contract of USDC there.' }),
                treasury: evmAddress.openapi({ description: 'Where payments go.' }),
                confirmations: z.int().openapi({ description: 'After so many blocks a transfer counts.' }),
                methods: z.looseObject({}).openapi({ description: 'The names in `pay_by`, explained.' }),
              })
              .nullable()
              .openapi({ description: 'How payments are made; null where none are taken.' }),
          })
          .openapi('Pricing', { description: 'What everything costs and how it is paid.' }),
      },
    },
    handle: () => json(ladder()),
  });
}

const takes = (rule: RecommendationRule): string => recommendedBy(rule).name;

function rubric(): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/rubric/select',
    operationId: 'selectProfile',
    group: GROUP,
    summary: 'Recommend a receipt profile',
    description: `The first rule that applies decides. \`regulated\`: \`counterparty.regulated\`, or words of law, supervision, health, finance or government in \`intent\` or in the counterparty’s text, take ${takes('regulated')}. \`retention\`: words in \`intent\` that ask for more than a year take ${takes('retention')}. \`verify\`: an \`intent\` to verify that names no deal takes ${takes('verify')}. \`sub_cent\`: an amount under 0.01 USD takes ${takes('sub_cent')}. \`commerce\`: everything else takes ${takes('commerce')}. Words are read in English; what the text denies (“not regulated”, “no long retention needed”) does not count. A counterparty as text is read unless it is a DID; of an object \`name\` and \`jurisdiction\` are read, unless \`regulated\` is false; \`did\` identifies and decides nothing.`,
    availability: 'live',
    body: z.strictObject({
      intent: z.string().max(2000).optional().openapi({ description: 'What is to be done, in words.' }),
      amount: z
        .union([
          z.number().nonnegative(),
          z.string().regex(/^\d{1,15}(?:\.\d{1,18})?$/, 'Not a decimal amount of US dollars'),
        ])
        .optional()
        .openapi({ description: 'What it is worth in US dollars: a number, or decimal text.' }),
      counterparty: z
        .union([
          z.string().max(2048),
          z.strictObject({
            did: z.string().max(2048).optional().openapi({ description: 'Its DID, which decides nothing.' }),
            name: z.string().max(500).optional().openapi({ description: 'Its name.' }),
            jurisdiction: z.string().max(100).optional().openapi({ description: 'Where it is.' }),
            regulated: z.boolean().optional().openapi({ description: 'Whether it is under supervision.' }),
          }),
        ])
        .optional()
        .openapi({ description: 'With whom: a DID, a text, or an object.' }),
    }),
    example: { intent: 'sell a data set', amount: '19.90', counterparty: { regulated: false } },
    answers: {
      200: {
        description: 'The recommended profile, the rule that chose it, and the other profiles',
        schema: z
          .object({
            recommended_profile: z.enum(PROFILES).openapi({ description: 'The profile to take.' }),
            rule: z.enum(RECOMMENDATION_RULES).openapi({ description: 'The rule that decided.' }),
            reason: z.string().openapi({ description: 'Why, in words.' }),
            price_usd: dollars.openapi({ description: 'What a receipt of it costs.' }),
            alternatives: z
              .array(
                z.object({
                  profile: z.enum(PROFILES).openapi({ description: 'The profile.' }),
                  price_usd: dollars.openapi({ description: 'What a receipt of it costs.' }),
                  when: z.string().openapi({ description: 'When it is the better choice.' }),
                }),
              )
              .openapi({ description: 'The other profiles.' }),
          })
          .openapi('Recommendation', { description: 'Which profile to take, and why.' }),
      },
    },
    handle: ({ body }) => json(recommend(body)),
  });
}
