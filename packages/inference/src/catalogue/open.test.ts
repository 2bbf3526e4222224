import type { JsonValue } from '@tallystick/core';
import { validate } from '@tallystick/kit';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from './open.ts';
import { operatorSchema } from './schema.ts';

const own = {
  id: 'mine/one',
  context: 8_000,
  max_output: 1_000,
  abilities: ['stream'],
  price: { input: '0.25', output: '1' },
  prior: { general: 0.5, law: 0.4 },
};
const provider = { name: 'mine', kind: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key_env: 'MY_KEY' };

function open(operator: JsonValue, env: Record<string, string> = {}) {
  return openCatalogue(env, validate(operatorSchema, operator));
}

const KEYS = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'GROQ', 'DEEPSEEK', 'MISTRAL'].map(
  (name) => `${name}_API_KEY`,
);
const idsOf = (env: Record<string, string>): string[] =>
  openCatalogue(env).catalogue.models.map(({ id }) => id);

describe('the default catalogue', () => {
  it('has the built-in models alone where nothing is configured', () => {
    expect(idsOf({})).toEqual(['local/extract-1', 'local/embed-512']);
    expect(openCatalogue({}).catalogue.find('local/extract-1')).toMatchObject({
      provider: 'local',
      hardware: 'cpu',
      price: { inputPerMTok: 0n, outputPerMTok: 0n },
    });
  });

  it('says of every price of a provider where and when it was read', () => {
    const env = Object.fromEntries(KEYS.map((name) => [name, 'k']));
    const priced = openCatalogue(env).catalogue.models.filter(({ builtIn }) => !builtIn);
    expect(new Set(priced.map(({ provider: name }) => name)).size).toBe(6);
    for (const { price } of priced)
      expect(price.source).toMatchObject({
        page: expect.stringMatching(/^https:\/\//),
        readOn: expect.stringMatching(/^2026-1\d-\d\d$/),
      });
  });

  it('has embedding models with prices, and the day on which a model ends where a list states one', () => {
    const { catalogue } = openCatalogue({ OPENAI_API_KEY: 'k', MISTRAL_API_KEY: 'k' });
    const embeddings = catalogue.models.filter(({ kind, builtIn }) => kind === 'embedding' && !builtIn);
    expect(embeddings.map(({ id, price }) => [id, price.inputPerMTok])).toEqual([
      ['openai/text-embedding-3-small', 20_000_000n],
      ['openai/text-embedding-3-large', 130_000_000n],
      ['mistral/mistral-embed-2312', 100_000_000n],
    ]);
    expect(catalogue.find('mistral/mistral-medium-3-5')?.retiresOn).toBe('2027-04-30');
  });

  it('adds the models of a provider with a key or a base URL', () => {
    expect(idsOf({ ANTHROPIC_API_KEY: 'k' })).toContain('anthropic/claude-haiku-5-5');
    const { catalogue, providers } = openCatalogue({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/' });
    expect(providers).toMatchObject([
      // Another server than OpenAI's own may know chat completions alone.
      {
        name: 'openai',
        kind: 'openai',
        baseUrl: 'http://127.0.0.1:9/v1',
        apiKeys: [],
        region: null,
        speaks: [],
      },
    ]);
    expect(openCatalogue({ OPENAI_API_KEY: 'k' }).providers[0]).toMatchObject({ speaks: ['responses'] });
    expect(catalogue.find('gpt-6-luna')).toMatchObject({
      id: 'openai/gpt-6-luna',
      price: { inputPerMTok: 100_000_000n, cacheReadPerMTok: 10_000_000n, cacheWritePerMTok: 125_000_000n },
    });
    expect(catalogue.models.every(({ provider: name }) => name === 'openai' || name === 'local')).toBe(true);
  });

  it.each([
    ['GEMINI_API_KEY', 'gemini'],
    ['GROQ_API_KEY', 'groq'],
    ['DEEPSEEK_API_KEY', 'deepseek'],
    ['MISTRAL_API_KEY', 'mistral'],
  ])('offers models once %s is set', (variable, name) => {
    const { catalogue, providers } = openCatalogue({ [variable]: 'k' });
    expect(providers).toMatchObject([{ name, apiKeys: [{ key: 'k' }] }]);
    expect(catalogue.models.filter(({ provider }) => provider === name)).not.toEqual([]);
  });

  it.each([
    ['VLLM_BASE_URL', 'vllm'],
    ['LLAMACPP_BASE_URL', 'llamacpp'],
    ['TOGETHER_API_KEY', 'together'],
    ['OPENROUTER_API_KEY', 'openrouter'],
    ['AWS_BEARER_TOKEN_BEDROCK', 'bedrock'],
  ])('has a provider once %s is set, whose models the file names', (variable, name) => {
    const operator = validate(operatorSchema, { models: [{ ...own, id: `${name}/one` }] });
    // Without the variable, they are not offered.
    expect(openCatalogue({}, operator).catalogue.find(`${name}/one`)).toBeNull();
    const { catalogue, providers } = openCatalogue({ [variable]: 'http://127.0.0.1:9/v1' }, operator);
    expect(providers).toMatchObject([{ name }]);
    expect(catalogue.find(`${name}/one`)?.upstreamModel).toBe('one');
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:11434'],
    ['127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['models', 'http://models:11434'],
    ['models/ollama/', 'http://models:11434/ollama'],
    [':8000', 'http://127.0.0.1:8000'],
    ['::1', 'http://[::1]:11434'],
    ['[::1]:8000', 'http://[::1]:8000'],
    ['http://models', 'http://models'],
    ['https://models.example.com', 'https://models.example.com'],
    ['https://models.example.com:11434', 'https://models.example.com:11434'],
  ])('reads OLLAMA_HOST=%s as Ollama does', (host, url) => {
    expect(openCatalogue({ OLLAMA_HOST: host }).providers[0]?.baseUrl).toBe(url);
  });
});

describe('the operator’s file', () => {
  it('adds providers and models', () => {
    const { catalogue, providers } = open({ providers: [provider], models: [own] }, { MY_KEY: 's3cret' });
    expect(providers[0]).toMatchObject({ name: 'mine', apiKeys: [{ key: 's3cret', weight: 1 }] });
    expect(catalogue.find('one')).toMatchObject({
      id: 'mine/one',
      prior: { general: 0.5, law: 0.4, code: 0.5 },
    });
  });

  it('gives a provider several keys, of which those count that are set', () => {
    const { api_key_env: _one, ...keyless } = provider;
    const api_keys = [{ env: 'KEY_1', weight: 3 }, { env: 'KEY_2' }, { env: 'KEY_3' }];
    const { providers } = open({ providers: [{ ...keyless, api_keys }] }, { KEY_1: 'a', KEY_3: ' c ' });
    expect(providers[0]?.apiKeys).toEqual([
      { key: 'a', weight: 3 },
      { key: 'c', weight: 1 },
    ]);
  });

  it('changes a default model member by member, or takes it away', () => {
    const env = { OPENAI_API_KEY: 'k' };
    const price = { input: '9', output: '9' };
    const { catalogue } = open(
      {
        models: [
          { id: 'openai/gpt-6-luna', price },
          { id: 'openai/gpt-6.2-sol', enabled: false },
        ],
      },
      env,
    );
    expect(catalogue.find('gpt-6-luna')).toMatchObject({
      context: 1_050_000,
      price: { inputPerMTok: 9_000_000_000n, source: null },
    });
    expect(catalogue.find('gpt-6.2-sol')).toBeNull();
  });

  it('leaves a name that two providers have to neither', () => {
    const twin = { ...own, id: 'mine/gpt-6-luna' };
    const { catalogue } = open({ providers: [provider], models: [twin] }, { OPENAI_API_KEY: 'k' });
    expect(catalogue.find('gpt-6-luna')).toBeNull();
    expect(catalogue.find('openai/gpt-6-luna')?.provider).toBe('openai');
  });

  it('is refused for a service account’s key of another form, which it does not quote', () => {
    const vertex = { ...provider, kind: 'vertex' };
    expect(() => open({ providers: [vertex] }, { MY_KEY: 's3cret' })).toThrow(
      expect.objectContaining({
        field: 'providers[0]',
        message: 'MY_KEY is not the JSON key of a service account.',
      }),
    );
  });

  it.each<[string, JsonValue, string, string]>([
    ['an unknown member', { modles: [] }, 'unknown_field', 'modles'],
    [
      'a price as a number',
      { models: [{ ...own, price: { input: 1, output: '1' } }] },
      'invalid_field',
      'models[0].price.input',
    ],
    [
      'too many decimals',
      { models: [{ ...own, price: { input: '0.0000000001', output: '1' } }] },
      'invalid_field',
      'models[0].price.input',
    ],
    [
      'a tariff that is cheaper for a longer prompt',
      {
        providers: [provider],
        models: [
          { ...own, price: { ...own.price, tariffs: [{ above_tokens: 9, input: '0.2', output: '1' }] } },
        ],
      },
      'invalid_field',
      'models[0].price.tariffs[0]',
    ],
    [
      'a page of prices that is not public',
      { models: [{ ...own, price: { ...own.price, source: { page: 'http://a/', read_on: '2026-01-01' } } }] },
      'invalid_field',
      'models[0].price.source.page',
    ],
    [
      'a day that is none',
      { models: [{ ...own, retires_at: '2026-02-30' }] },
      'invalid_field',
      'models[0].retires_at',
    ],
    [
      'a prior above 1',
      { models: [{ ...own, prior: { general: 2 } }] },
      'invalid_field',
      'models[0].prior.general',
    ],
    [
      'an unknown domain',
      { models: [{ ...own, prior: { general: 1, golf: 1 } }] },
      'unknown_field',
      'models[0].prior.golf',
    ],
    [
      'a new model half described',
      { providers: [provider], models: [{ id: 'mine/x' }] },
      'missing_field',
      'models[0].context',
    ],
    ['a provider that is not configured', { models: [own] }, 'invalid_field', 'models[0]'],
    [
      'a key in the file',
      { providers: [{ ...provider, api_key: 'x' }] },
      'unknown_field',
      'providers[0].api_key',
    ],
    [
      'a base URL with credentials',
      { providers: [{ ...provider, base_url: 'http://a:b@c/' }] },
      'invalid_field',
      'providers[0].base_url',
    ],
    [
      'one key and several',
      { providers: [{ ...provider, api_keys: [{ env: 'MY_KEY' }] }] },
      'conflicting_fields',
      'providers[0].api_keys',
    ],
    ['a provider twice', { providers: [provider, provider] }, 'conflicting_fields', 'providers[1].name'],
    [
      'the built-in provider',
      { providers: [{ ...provider, name: 'local' }] },
      'invalid_field',
      'providers[0].name',
    ],
  ])('is refused for %s', (_, file, code, field) => {
    expect(() => open(file)).toThrow(expect.objectContaining({ code, field }));
  });
});
