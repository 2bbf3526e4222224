import { z } from 'zod';
import { experimentsSchema } from '../experiments/schema.ts';
import { SERVICE_TIERS } from '../types.ts';
import { ABILITIES } from './catalogue.ts';
import { DOMAINS } from './domains.ts';
import { upstreamKinds } from './kinds.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const dollars = z
  .string()
  .regex(
    /^(0|[1-9]\d{0,6})(\.\d{1,9})?$/,
    'Not USDC as decimal text, such as "0.15", with at most 9 decimals',
  );
const tokens = z.int().min(1).max(100_000_000);
const share = z.number().min(0).max(1);

const prior = z.strictObject({
  general: share,
  ...Object.fromEntries(DOMAINS.filter((name) => name !== 'general').map((name) => [name, share.optional()])),
});

/** Lengths of an embedding model's vectors. */
const dimensions = z.strictObject({
  default: z.int().min(1).max(65_536),
  /** The shorter ones that can be asked for; none when absent. */
  shorter: z.union([z.literal('any'), z.array(z.int().min(1).max(65_536)).max(100)]).optional(),
});

const day = z.iso.date('Not a day such as 2026-11-23');

/** USDC for 1,000,000 tokens. A cache price that is left out equals the input price, a long write any other write. */
const prices = {
  input: dollars,
  output: dollars,
  cache_read: dollars.optional(),
  cache_write: dollars.optional(),
  cache_write_long: dollars.optional(),
} as const;

const priceSource = z.strictObject({
  /** The page that states the prices. */
  page: z
    .string()
    .max(2048)
    .refine((text) => URL.canParse(text) && new URL(text).protocol === 'https:', 'Not an https:// URL'),
  /** The day on which somebody read it. */
  read_on: day,
  /** Whether a stored copy of the page was read, which may be older than that day. */
  copy: z.literal(true).optional(),
  /** The last day on which the page promises these prices. */
  valid_until: day.optional(),
});

const price = z.strictObject({
  ...prices,
  source: priceSource.optional(),
  /** Prices for calls that fulfil each condition given; of those that apply, the last one counts. */
  tariffs: z
    .array(
      z.strictObject({
        above_tokens: tokens.optional(),
        service_tier: z.enum(SERVICE_TIERS).optional(),
        ...prices,
      }),
    )
    .max(20)
    .optional(),
});

const modelId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}\/[\w./:@-]{1,127}$/, 'Not <provider>/<model>');

const modelFields = {
  context: tokens,
  max_output: tokens,
  abilities: z.array(z.enum(ABILITIES)),
  kind: z.enum(['chat', 'embedding']).optional(),
  dimensions: dimensions.optional(),
  price,
  prior,
  hardware: z.string().min(1).max(64).optional(),
  region: z.string().min(1).max(64).optional(),
  training_region: z.string().min(1).max(64).optional(),
  attestation: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,31}:sha256:[0-9a-f]{64}$/, 'Not <type>:sha256:<64 hex>')
    .optional(),
  tokenizer: z.enum(['o200k', 'cl100k', 'estimate']).optional(),
  /** The day on which its provider shuts it down. */
  retires_at: day.optional(),
  /** Ids of the models that its provider recommends instead. */
  successors: z.array(modelId).max(10).optional(),
} as const;

const modelSchema = z.strictObject({
  id: modelId,
  provider: z.string().regex(NAME, 'Not a provider’s name').optional(),
  upstream_model: z.string().min(1).max(200).optional(),
  ...modelFields,
});

/** For a model of the default catalogue, each member given here replaces the default's. */
const modelChange = modelSchema.partial().required({ id: true }).extend({ enabled: z.boolean().optional() });

const variable = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'Not the name of an environment variable');

const httpUrl = z
  .string()
  .max(2048)
  .refine(isHttp, 'Not an http:// or https:// URL without credentials, query and fragment');

const providerSchema = z.strictObject({
  name: z
    .string()
    .regex(NAME, 'Not a provider’s name')
    .refine((name) => name !== 'local', 'The name local belongs to the built-in provider'),
  kind: z.enum(upstreamKinds as [(typeof upstreamKinds)[number], ...(typeof upstreamKinds)[number][]]),
  base_url: httpUrl,
  /** The environment variable that replaces the base URL. */
  base_url_env: variable.optional(),
  /** The environment variable that contains the key; the file never does. */
  api_key_env: variable.optional(),
  /** Several keys instead, each with its share of the calls. */
  api_keys: z
    .array(z.strictObject({ env: variable, weight: z.int().min(1).max(1000).optional() }))
    .min(1)
    .max(100)
    .optional(),
  region: z.string().min(1).max(64).optional(),
  /** The protocols beside chat completions that its server speaks, so that calls in them pass as they are. */
  speaks: z.array(z.enum(['responses'])).optional(),
  /** Version of Azure's API, for the URLs that name a deployment. */
  api_version: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/, 'Not a version such as 2024-10-21')
    .optional(),
  /** Region for which requests to AWS are signed, if the address does not say it. */
  signing_region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'Not a region of AWS')
    .optional(),
  /** Where the keys are exchanged for access tokens. */
  oauth: z
    .strictObject({
      token_url: httpUrl,
      client_id: z.string().min(1).max(256).optional(),
      scope: z.string().min(1).max(1024).optional(),
    })
    .optional(),
});

export const defaultsSchema = z.strictObject({
  prior_basis: z.string(),
  providers: z.array(providerSchema),
  models: z.array(modelSchema),
});

export const operatorSchema = z.strictObject({
  providers: z.array(providerSchema).max(100).optional(),
  models: z.array(modelChange).max(1000).optional(),
  experiments: experimentsSchema.optional(),
});

export type ModelEntry = z.infer<typeof modelSchema>;
export type ModelChange = z.infer<typeof modelChange>;
export type DefaultsFile = z.infer<typeof defaultsSchema>;
export type ProviderFile = z.infer<typeof providerSchema>;
export type OperatorFile = z.infer<typeof operatorSchema>;

function isHttp(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
}
