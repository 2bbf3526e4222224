import type { JsonObject } from '@tallystick/core';
import { BEDROCK_KEY } from './upstream-bedrock.ts';

/** A model of each kind of provider, in the order of the table in docs/protocols.md. */
export const MODELS_BY_PROVIDER = {
  OpenAI: 'direct/m',
  'OpenAI-compatible': 'compatible/m',
  Azure: 'azure/m',
  Anthropic: 'claude/m',
  'Gemini, Vertex': 'google/m',
  Bedrock: 'aws/anthropic.m',
  Ollama: 'llama/m',
} as const;

/** What the catalogue of `everyProvider` needs in the environment. */
export const PROVIDER_KEYS = { AZURE_KEY: 'k', GOOGLE_KEY: 'k', BEDROCK_KEY };

/** A catalogue with a provider of each kind, all of them at one upstream. */
export function everyProvider(url: string): JsonObject {
  const described = {
    context: 128_000,
    max_output: 16_384,
    abilities: ['tools', 'vision', 'json', 'stream', 'reasoning'],
    price: { input: '0.15', output: '0.60' },
    prior: { general: 0.5 },
  };
  const providers = [
    { name: 'direct', kind: 'openai', base_url: `${url}/v1`, speaks: ['responses'] },
    { name: 'compatible', kind: 'openai', base_url: `${url}/v1` },
    { name: 'claude', kind: 'anthropic', base_url: url },
    { name: 'azure', kind: 'azure', base_url: `${url}/openai/v1`, api_key_env: 'AZURE_KEY' },
    { name: 'google', kind: 'gemini', base_url: url, api_key_env: 'GOOGLE_KEY' },
    { name: 'aws', kind: 'bedrock', base_url: url, api_key_env: 'BEDROCK_KEY' },
    { name: 'llama', kind: 'ollama', base_url: url },
  ];
  return { providers, models: Object.values(MODELS_BY_PROVIDER).map((id) => ({ id, ...described })) };
}
