import { z } from '@hono/zod-openapi';
import { SERVICE_TIERS, TIERS } from '@tallystick/inference';
import { envelopeSchema } from './receipt-shapes.ts';
import { count, usdc } from './shapes.ts';

export const moneySchema = z
  .object({
    usdc: z.string().openapi({
      example: '0.000012300',
      pattern: String.raw`^-?\d+\.\d{9}$`,
      description: 'Decimal text with nine places.',
    }),
    nano: z.string().openapi({
      example: '12300',
      pattern: String.raw`^-?\d+$`,
      description: 'The same amount in nano-USDC.',
    }),
  })
  .openapi('Money', { description: 'An amount of USDC.' });

const compressionMembers = {
  tier: z.enum(TIERS).openapi({ description: 'As it was asked for.' }),
  tokenizer: z.string().openapi({ description: 'The encoding that counted the tokens, or `provider`.' }),
  estimate: z.boolean().openapi({ description: 'Whether the model’s own tokenizer may count otherwise.' }),
  tokens_before: count.nullable().openapi({ description: 'Tokens of the messages’ texts as they came.' }),
  tokens_after: count.nullable().openapi({ description: 'Tokens of them as they were sent.' }),
  methods: z
    .record(z.string(), z.int())
    .openapi({ description: 'The number of tokens that each method saved.' }),
  lost_cache_tokens: z.int().openapi({
    description: 'Tokens that the provider could have read from its cache had the prompt not been changed.',
  }),
  removed: z
    .array(
      z.object({
        id: z.string().openapi({ description: 'The id of the block.' }),
        removed: count.openapi({ description: 'How many units were cut.' }),
        of: count.openapi({ description: 'How many units the block had.' }),
        unit: z.string().openapi({ description: 'What is counted.', example: 'sentences' }),
        tokens: z.int().openapi({ description: 'Tokens that this saved.' }),
      }),
    )
    .openapi({
      description: 'The blocks that were cut; the notice left in the text holds the id of its block.',
    }),
  note: z
    .string()
    .optional()
    .openapi({ description: 'In words, where something was done otherwise than asked for.' }),
};

/** What compression did to the prompt; spec/compute.md defines it. */
export const compressionSchema = z
  .object(compressionMembers)
  .openapi('Compression', { description: 'What became of the prompt (spec/compute.md).' });

const EXPLAINED = 'Other members are there with `svc.explain`.';

/** As {@link compressionSchema}, of an answer, which has only some of its members unless all are asked for. */
const answerCompression = z
  .object(compressionMembers)
  .partial()
  .required({ tier: true, tokens_before: true, tokens_after: true })
  .openapi('AnswerCompression', { description: `What became of the prompt (spec/compute.md). ${EXPLAINED}` });

const tokens = z.object({
  prompt_tokens: count.openapi({ description: 'Tokens of the prompt.' }),
  completion_tokens: count.openapi({ description: 'Tokens of the answer.' }),
  cached_tokens: count.openapi({ description: 'Of the prompt, those read from the provider’s cache.' }),
  cache_write_tokens: count.openapi({ description: 'Of the prompt, those written to the provider’s cache.' }),
  cache_write_long_tokens: count.openapi({
    description:
      'Of those written, the ones that the cache keeps for an hour or longer, if the provider says.',
  }),
  service_tier: z
    .enum(SERVICE_TIERS)
    .optional()
    .openapi({ description: 'The class in which the provider served the call, if not the standard one.' }),
  counted_by: z
    .enum(['tallystick', 'provider'])
    .openapi({ description: 'Whose count is billed: the provider’s, unless it gave none that can be true.' }),
});

/** Prices of a model for 1,000,000 tokens. */
export const priceSchema = z
  .object({
    input: moneySchema.openapi({ description: 'Of prompt tokens.' }),
    output: moneySchema.openapi({ description: 'Of tokens of the answer.' }),
    cache_read: moneySchema.openapi({ description: 'Of prompt tokens read from the provider’s cache.' }),
    cache_write: moneySchema.openapi({ description: 'Of prompt tokens written to the provider’s cache.' }),
    cache_write_long: moneySchema.openapi({
      description: 'Of those that the cache keeps for an hour or longer.',
    }),
  })
  .openapi('Price', { description: 'What 1,000,000 tokens cost.' });

const billingSchema = z
  .looseObject({
    asset: usdc.optional(),
    account: z.string().openapi({ description: 'The kind of account that pays.', example: 'api_key' }),
    charge: moneySchema.openapi({ description: 'What the call was charged.' }),
    provider_cost: moneySchema.optional().openapi({ description: 'What its provider charges for it.' }),
    saving: moneySchema.openapi({ description: 'What compression saved, before the share.' }),
    share: z
      .looseObject({
        ...moneySchema.shape,
        percent: z.int().openapi({ description: 'The caller’s share of the saving, in percent.' }),
        tier: z.string().openapi({ description: 'The member tier that it follows from.' }),
      })
      .openapi({ description: 'What of the saving goes back to the caller.' }),
    reserved: moneySchema.optional().openapi({ description: 'What was put aside before the call.' }),
    usage: tokens.optional().openapi({ description: 'The tokens that were billed.' }),
    price_per_million_tokens: priceSchema
      .optional()
      .openapi({ description: 'By the tariff of the first call.' }),
    calls: z
      .array(z.looseObject({ price_per_million_tokens: priceSchema }))
      .optional()
      .openapi({
        description: 'Tokens and prices of each call, if those for one answer had several tariffs.',
      }),
  })
  .openapi('Billing', {
    description: `What a call cost, and what compression saved (spec/compute.md). ${EXPLAINED}`,
  });

const svcMembers = {
  receipt: envelopeSchema,
  routing: z
    .looseObject({
      outcome: z
        .looseObject({
          model: z.string().openapi({ description: 'The id of the model that was chosen.' }),
          why: z.string().openapi({ description: 'The reason.', example: 'best_score' }),
        })
        .openapi({ description: 'What was decided.' }),
    })
    .openapi({
      description: `Why the model was chosen. ${EXPLAINED} \`tally route explain\` reads them.`,
    }),
  served: z
    .object({
      model: z.string().openapi({ description: 'The id of the model that answered.' }),
      provider: z.string().openapi({ description: 'The provider that answered.' }),
      failed_tries: z
        .array(
          z.object({
            model: z.string().openapi({ description: 'The model that was tried.' }),
            failed: z.string().openapi({ description: 'What went wrong.' }),
            status: z
              .int()
              .nullable()
              .openapi({ description: 'The provider’s HTTP status, if it gave one.' }),
          }),
        )
        .openapi({ description: 'Tries that failed before.' }),
    })
    .openapi({ description: 'Who answered.' }),
  billing: billingSchema,
  anchor_failed: z
    .string()
    .optional()
    .openapi({ description: 'The error code of the anchoring that was asked for and failed.' }),
};

/** The member `svc` of an answer in one piece. */
export const answerSvc = z
  // Not `.nullable()`, which would leave the referenced object as the only form.
  .looseObject({ ...svcMembers, compression: answerCompression })
  .openapi({ description: 'What the service adds: receipt, routing, compression, billing.' });

/** The member `svc` of an answer to an embeddings call. */
export const embeddingsSvc = z
  .looseObject({
    ...svcMembers,
    compression: z
      .object({
        applied: z.literal(false).openapi({ description: 'Always this.' }),
        reason: z.string().openapi({ description: 'Why, in words.' }),
      })
      .openapi({ description: 'That nothing is compressed here.' }),
  })
  .openapi({ description: 'What the service adds: receipt and billing.' });
