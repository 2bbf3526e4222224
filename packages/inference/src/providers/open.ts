import type { UpstreamKind } from '../catalogue/kinds.ts';
import { anthropicProvider } from './anthropic.ts';
import { azureProvider } from './azure.ts';
import { bedrockProvider } from './bedrock.ts';
import { geminiProvider } from './gemini.ts';
import { ollamaProvider } from './ollama.ts';
import { openaiProvider } from './openai.ts';
import type { Provider } from './provider.ts';
import type { UpstreamOptions } from './upstream.ts';
import { vertexProvider } from './vertex.ts';

const openers: Record<UpstreamKind, (options: UpstreamOptions) => Provider> = {
  openai: openaiProvider,
  anthropic: anthropicProvider,
  ollama: ollamaProvider,
  gemini: geminiProvider,
  vertex: vertexProvider,
  azure: azureProvider,
  bedrock: bedrockProvider,
};

/**
 * Opens a provider. Nothing is sent until the first call.
 * @throws TypeError for a base URL that is not http or https, or that contains credentials
 */
export function openProvider(kind: UpstreamKind, options: UpstreamOptions): Provider {
  return openers[kind](options);
}
