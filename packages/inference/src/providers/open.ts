import { anthropicProvider } from './anthropic.ts';
import { ollamaProvider } from './ollama.ts';
import { openaiProvider } from './openai.ts';
import type { Provider } from './provider.ts';
import type { UpstreamOptions } from './upstream.ts';

const openers = { openai: openaiProvider, anthropic: anthropicProvider, ollama: ollamaProvider } as const;

/** The wire formats of providers that an operator can configure. */
export type UpstreamKind = keyof typeof openers;

export const upstreamKinds = Object.keys(openers) as readonly UpstreamKind[];

/**
 * Opens a provider. Nothing is sent until the first call.
 * @throws TypeError for a base URL that is not http or https, or that contains credentials
 */
export function openProvider(kind: UpstreamKind, options: UpstreamOptions): Provider {
  return openers[kind](options);
}
