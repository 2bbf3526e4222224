import { z } from 'zod';
import { ABILITIES, CARRIED, NEEDS } from '../catalogue/catalogue.ts';
import { DOMAINS } from '../catalogue/domains.ts';
import { FEATURE_NAMES } from './features.ts';

const nanoUsdc = z.string().regex(/^(0|[1-9]\d{0,29})$/, 'Not nano-USDC in decimal digits');
const tokens = z.int().min(0);
const name = z.string().max(256);
const ability = z.enum(ABILITIES);

const candidate = z.strictObject({
  model: name,
  provider: name,
  context: tokens,
  max_output: tokens,
  abilities: z.array(ability),
  input_price: nanoUsdc,
  output_price: nanoUsdc,
  prior: z.number().min(0).max(1),
  available: z.boolean(),
  limited: z.literal(true).optional(),
  built_in: z.boolean().optional(),
  carries: z.array(z.enum(CARRIED)).optional(),
});

const inputs = z.strictObject({
  weights: name,
  requested: name,
  prompt_tokens: tokens,
  max_output_tokens: tokens,
  cost_quality: z.number().min(0).max(10),
  needs: z.array(z.enum(NEEDS)),
  native_member: z.string().max(1_000).optional(),
  order: z.array(name),
  only: z.array(name).nullable(),
  ignore: z.array(name),
  max_price: z.strictObject({ prompt: nanoUsdc.nullable(), completion: nanoUsdc.nullable() }),
  pinned: name.nullable(),
  domain: z.enum(DOMAINS),
  features: z
    .strictObject({
      form: z.enum(['choice', 'free']),
      values: z.array(z.number()).length(FEATURE_NAMES.length),
    })
    .nullable(),
  candidates: z.array(candidate).min(1).max(1000),
  unaffordable: z.array(name),
});

const outcome = z.strictObject({
  model: name,
  fallbacks: z.array(name),
  why: z.enum([
    'explicit',
    'session',
    'only_candidate',
    'provider_order',
    'low_margin',
    'best_score',
    'balance',
  ]),
  best_single: name.nullable(),
  difficulty: z.strictObject({ weak: z.number(), gain: z.number() }).nullable(),
  scores: z.array(
    z.strictObject({
      model: name,
      excluded: z
        .enum([...NEEDS, 'provider', 'price', 'context', 'health', 'rate_limit', 'built_in'])
        .nullable(),
      quality: z.number().nullable(),
      expected_cost: nanoUsdc.nullable(),
      score: z.number().nullable(),
    }),
  ),
});

export const explanationSchema = z.strictObject({ version: z.literal(1), inputs, outcome });
