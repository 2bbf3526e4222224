import type { Carried } from '../catalogue/catalogue.ts';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { anthropicProvider } from './anthropic.ts';
import { ollamaProvider } from './ollama.ts';
import { openaiProvider } from './openai.ts';
import type { Provider } from './provider.ts';
import type { UpstreamOptions } from './upstream.ts';

interface Kind {
  readonly open: (options: UpstreamOptions) => Provider;
  /** What its API can carry; `responses` and `messages` where it speaks that protocol. */
  readonly carries: readonly Carried[];
}

/** The wire formats of providers that an operator can configure. */
const kinds = {
  openai: { open: openaiProvider, carries: ['choices', 'files', 'audio', 'forced_tools', 'other_tools'] },
  anthropic: { open: anthropicProvider, carries: ['files', 'forced_tools', 'messages'] },
  ollama: { open: ollamaProvider, carries: [] },
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
