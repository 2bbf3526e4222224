import { isObject, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';

/** A model as a price list describes it, in the form of the configuration file. */
export interface ListedModel {
  readonly id: string;
  readonly kind: 'chat' | 'embedding';
  readonly context: number;
  readonly max_output: number;
  readonly abilities: readonly string[];
  readonly price: JsonObject;
  readonly retires_at?: string;
}

/** Where a list was read, for prices that name no page of their own. */
export interface ListSource {
  readonly page: string;
  /** The day on which the list was read, as `2026-11-23`. */
  readonly readOn: string;
}

/**
 * Reads LiteLLM's `model_prices_and_context_window.json` or the answer of OpenRouter's `GET /models`. Models of other
 * kinds, of providers without a preset and without a size or a price are left out. LiteLLM's list names some models
 * twice, at other prices: the dearer counts, so that nothing is billed below what the provider asks for.
 * @throws invalid_field for a file of another form, which is one without any such model
 */
export function readPriceList(json: JsonValue, source: ListSource): ListedModel[] {
  if (!isObject(json))
    throw new TallyError('invalid_field', 'A price list is a JSON object: LiteLLM’s or OpenRouter’s.');
  const models = modelsOf(json, source);
  if (models.length > 0) return models;
  throw new TallyError(
    'invalid_field',
    'No entry of the price list could be read as a model. Give LiteLLM’s model_prices_and_context_window.json or the answer of OpenRouter’s GET /models.',
  );
}

function modelsOf(json: JsonObject, source: ListSource): ListedModel[] {
  const { data } = json;
  if (Array.isArray(data))
    return data.flatMap((one) => (isObject(one) ? (fromOpenRouter(one, source) ?? []) : []));
  const found = new Map<string, ListedModel>();
  for (const [name, one] of Object.entries(json)) {
    const model = isObject(one) ? fromLiteLlm(name, one, source) : null;
    if (model === null) continue;
    const other = found.get(model.id);
    if (other === undefined || sumOf(model) > sumOf(other)) found.set(model.id, model);
  }
  return [...found.values()];
}

/** Prices of prompt and answer added up, in USDC for 1,000,000 tokens. */
function sumOf({ price }: ListedModel): number {
  return Number(price['input']) + Number(price['output']);
}

/** LiteLLM's names of the providers that have a preset here. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  mistral: 'mistral',
  groq: 'groq',
  deepseek: 'deepseek',
  together_ai: 'together',
  openrouter: 'openrouter',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
};
const TIERS: Readonly<Record<string, string>> = { batches: 'batch', flex: 'flex', priority: 'priority' };

/** The members of a price, by LiteLLM's names for them. */
const PRICES = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_long: 'cache_creation_input_token_cost_above_1hr',
} as const;

function fromLiteLlm(name: string, entry: JsonObject, source: ListSource): ListedModel | null {
  const { litellm_provider: given, mode, max_input_tokens: context, max_output_tokens: most } = entry;
  if (typeof given !== 'string') return null;
  const provider = PROVIDERS[given];
  const kind = mode === 'chat' ? 'chat' : mode === 'embedding' ? 'embedding' : null;
  const base = litellmPrice(entry, '');
  if (provider === undefined || kind === null || !isSize(context) || base === null) return null;
  if (kind === 'chat' && !isSize(most)) return null;
  const { deprecation_date: end, source: page } = entry;
  const has = (ability: string): boolean => entry[`supports_${ability}`] === true;
  return {
    id: `${provider}/${name.replace(`${given}/`, '')}`,
    kind,
    context,
    max_output: isSize(most) ? most : 1,
    abilities: abilitiesOf(kind, {
      tools: has('function_calling'),
      vision: has('vision'),
      json: has('response_schema'),
      reasoning: has('reasoning'),
    }),
    price: {
      ...base,
      source: sourceOf(typeof page === 'string' && page.startsWith('https://') ? page : source.page, source),
      ...withTariffs(litellmTariffs(entry, base)),
    },
    ...(typeof end === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(end) && { retires_at: end }),
  };
}

/** The prices whose names end so; null unless there are those of input and output. */
function litellmPrice(entry: JsonObject, suffix: string, otherwise: JsonObject = {}): JsonObject | null {
  const found: JsonObject = {};
  for (const [member, name] of Object.entries(PRICES)) {
    const price = perMillion(entry[name + suffix]) ?? otherwise[member];
    if (price !== undefined) found[member] = price;
  }
  return found['input'] === undefined || found['output'] === undefined ? null : found;
}

/** Tariffs by length first, so that those of a class of service come after what they replace. */
function litellmTariffs(entry: JsonObject, base: JsonObject): JsonObject[] {
  const suffixes = Object.keys(entry).flatMap((name) => {
    const match = /^input_cost_per_token(?:_above_(\d+)k_tokens)?(?:_(batches|flex|priority))?$/.exec(name);
    return match === null || match[0] === PRICES.input ? [] : [match];
  });
  return suffixes
    .map(([whole, thousands, tier]) => ({
      suffix: whole.slice(PRICES.input.length),
      above: thousands === undefined ? 0 : Number(thousands) * 1_000,
      tier,
    }))
    .toSorted((a, b) => (a.tier ?? '').localeCompare(b.tier ?? '') || a.above - b.above)
    .flatMap(({ suffix, above, tier }) => {
      // What a class of service has no price for costs what it costs at that length.
      const sameLength = litellmPrice(entry, suffix.replace(/_(batches|flex|priority)$/, ''), base);
      const price = litellmPrice(entry, suffix, sameLength ?? base);
      return price === null
        ? []
        : [
            {
              ...(above > 0 && { above_tokens: above }),
              ...(tier !== undefined && { service_tier: TIERS[tier] ?? tier }),
              ...price,
            },
          ];
    });
}

function fromOpenRouter(entry: JsonObject, source: ListSource): ListedModel | null {
  const { id, context_length: context, pricing, top_provider, supported_parameters, expiration_date } = entry;
  if (typeof id !== 'string' || !isSize(context) || !isObject(pricing ?? null)) return null;
  const prices = pricing as JsonObject;
  const [input, output] = [perMillion(prices['prompt']), perMillion(prices['completion'])];
  if (input === undefined || output === undefined) return null;
  const most = isObject(top_provider ?? null) ? (top_provider as JsonObject)['max_completion_tokens'] : null;
  const [read, write] = [perMillion(prices['input_cache_read']), perMillion(prices['input_cache_write'])];
  const takes = (name: string): boolean =>
    Array.isArray(supported_parameters) && supported_parameters.includes(name);
  const { architecture } = entry;
  const modalities = isObject(architecture ?? null) ? (architecture as JsonObject)['input_modalities'] : [];
  return {
    id: `openrouter/${id}`,
    kind: 'chat',
    context,
    max_output: isSize(most) ? most : context,
    abilities: abilitiesOf('chat', {
      tools: takes('tools'),
      vision: Array.isArray(modalities) && modalities.includes('image'),
      json: takes('response_format'),
      reasoning: takes('reasoning'),
    }),
    price: {
      input,
      output,
      ...(read !== undefined && { cache_read: read }),
      ...(write !== undefined && { cache_write: write }),
      source: sourceOf(source.page, source),
    },
    ...(typeof expiration_date === 'string' &&
      /^\d{4}-\d{2}-\d{2}/.test(expiration_date) && { retires_at: expiration_date.slice(0, 10) }),
  };
}

function abilitiesOf(kind: ListedModel['kind'], has: Readonly<Record<string, boolean>>): string[] {
  if (kind === 'embedding') return [];
  return [...Object.keys(has).filter((ability) => has[ability] === true), 'stream'];
}

/** A list is a transcription of the pages that it names. */
function sourceOf(page: string, { readOn }: ListSource): JsonObject {
  return { page, read_on: readOn, copy: true };
}

function withTariffs(tariffs: readonly JsonObject[]): JsonObject {
  return tariffs.length === 0 ? {} : { tariffs: [...tariffs] };
}

function isSize(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= 100_000_000;
}

/** Dollars for a token, a number or decimal text, as decimal text for 1,000,000; undefined for none or a negative one. */
function perMillion(value: JsonValue | undefined): string | undefined {
  const price = typeof value === 'string' ? Number(value) : value;
  if (typeof price !== 'number' || !(price >= 0) || price >= 10) return undefined;
  return (price * 1_000_000).toFixed(9).replace(/\.?0+$/, '');
}
