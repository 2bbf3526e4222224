import { z } from 'zod';
import { ABILITIES, CARRIED, NEEDS } from '../catalogue/catalogue.ts';
import { DOMAINS } from '../catalogue/domains.ts';
import { OTHER_FILTERS } from './record.ts';
import { SORTS } from './sort.ts';

const nanoUsdc = z.string().regex(/^(0|[1-9]\d{0,29})$/, 'Not nano-USDC in decimal digits');
const tokens = z.int().min(0);
const name = z.string().max(256);
const seed = z.string().regex(/^[0-9a-f]{32}$/, 'Not 16 bytes in hex');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'Not a SHA-256 in hex');
const ability = z.enum(ABILITIES);

/** More than any version reads. */
const MAX_FEATURES = 1_000;

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
  retired: z.literal(true).optional(),
  outdated_price: z.literal(true).optional(),
  built_in: z.boolean().optional(),
  carries: z.array(z.enum(CARRIED)).optional(),
  dimensions: z
    .strictObject({ default: tokens, shorter: z.union([z.literal('any'), z.array(tokens)]) })
    .optional(),
  expected_output: tokens.optional(),
  first_token_ms: z.int().min(0).optional(),
  tokens_per_second: z.number().min(0).optional(),
  ratings: z.strictObject({ count: tokens, score: tokens }).optional(),
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
  max_price: z.strictObject({
    prompt: nanoUsdc.nullable(),
    completion: nanoUsdc.nullable(),
    request: nanoUsdc.optional(),
  }),
  dimensions: tokens.nullable().optional(),
  strategy: z
    .strictObject({
      sort: z.enum(SORTS),
      budget: z.strictObject({ per_day: nanoUsdc, spent: nanoUsdc }).optional(),
    })
    .optional(),
  pinned: name.nullable(),
  domain: z.enum(DOMAINS),
  features: z
    .strictObject({
      form: z.enum(['choice', 'free']),
      values: z.array(z.number()).max(MAX_FEATURES),
    })
    .nullable(),
  learned: sha256.optional(),
  comparison: z
    .strictObject({ name, share: z.number().min(0).max(1), seed, arm: z.enum(['a', 'b']) })
    .optional(),
  bandit: z.strictObject({ seed, ratings: sha256.optional() }).optional(),
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
    'strategy',
    'balance',
  ]),
  best_single: name.nullable(),
  difficulty: z
    .strictObject({
      weak: z.number(),
      gain: z.number(),
      basis: z.enum(['graded', 'construction']).optional(),
    })
    .nullable(),
  scores: z.array(
    z.strictObject({
      model: name,
      excluded: z.enum([...NEEDS, ...OTHER_FILTERS]).nullable(),
      quality: z.number().nullable(),
      expected_cost: nanoUsdc.nullable(),
      score: z.number().nullable(),
    }),
  ),
});

export const explanationSchema = z.strictObject({ version: z.literal(1), inputs, outcome });
