import type { SpokenProtocol } from '../protocols/protocol.ts';
import type { Carried } from './catalogue.ts';

const ofOpenai = ['choices', 'files', 'audio', 'forced_tools', 'other_tools'] as const;
const ofGemini = ['files', 'audio', 'forced_tools'] as const;

/**
 * The wire formats of providers that an operator can configure, and what the API of each can carry; `responses` and
 * `messages` where it speaks that protocol.
 */
const kinds = {
  openai: ofOpenai,
  anthropic: ['files', 'forced_tools', 'messages'],
  ollama: [],
  gemini: ofGemini,
  vertex: ofGemini,
  azure: ofOpenai,
  bedrock: ['files', 'forced_tools'],
} as const satisfies Record<string, readonly Carried[]>;

export type UpstreamKind = keyof typeof kinds;

export const upstreamKinds = Object.keys(kinds) as readonly UpstreamKind[];

/** What a provider's API can carry. @param speaks the protocols that its configuration adds */
export function carriedBy(kind: UpstreamKind, speaks: readonly SpokenProtocol[]): ReadonlySet<Carried> {
  return new Set<Carried>([...kinds[kind], ...speaks]);
}
