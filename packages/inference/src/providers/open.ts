import type { Carried } from '../catalogue/catalogue.ts';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { anthropicProvider } from './anthropic.ts';
import { azureProvider } from './azure.ts';
import { bedrockProvider } from './bedrock.ts';
import { geminiProvider } from './gemini.ts';
import { ollamaProvider } from './ollama.ts';
import { openaiProvider } from './openai.ts';
import type { Provider } from './provider.ts';
import type { UpstreamOptions } from './upstream.ts';
import { vertexProvider } from './vertex.ts';

interface Kind {
  readonly open: (options: UpstreamOptions) => Provider;
  /** What its API can carry; `responses` and `messages` where it speaks that protocol. */
  readonly carries: readonly Carried[];
}

const ofOpenai = ['choices', 'files', 'audio', 'forced_tools', 'other_tools'] as const;
const ofGemini = ['files', 'audio', 'forced_tools'] as const;

/** The wire formats of providers that an operator can configure. */
const kinds = {
  openai: { open: openaiProvider, carries: ofOpenai },
  anthropic: { open: anthropicProvider, carries: ['files', 'forced_tools', 'messages'] },
  ollama: { open: ollamaProvider, carries: [] },
  gemini: { open: geminiProvider, carries: ofGemini },
  vertex: { open: vertexProvider, carries: ofGemini },
  azure: { open: azureProvider, carries: ofOpenai },
  bedrock: { open: bedrockProvider, carries: ['files', 'forced_tools'] },
} as const satisfies Record<string, Kind>;

export type UpstreamKind = keyof typeof kinds;

export const upstreamKinds = Object.keys(kinds) as readonly UpstreamKind[];

/** What a provider's API can carry. @param speaks the protocols that its configuration adds */
export function carriedBy(kind: UpstreamKind, speaks: readonly SpokenProtocol[]): ReadonlySet<Carried> {
  return new Set<Carried>([...kinds[kind].carries, ...speaks]);
}

/**
 * Opens a provider. Nothing is sent until the first call.
 * @throws TypeError for a base URL that is not http or https, or that contains credentials
 */
export function openProvider(kind: UpstreamKind, options: UpstreamOptions): Provider {
  return kinds[kind].open(options);
}
