import type { Need } from '../catalogue/catalogue.ts';
import { DOMAINS, type Domain } from '../catalogue/domains.ts';
import type { PromptFeatures } from '../router/features.ts';

/**
 * The kinds of prompts whose answers are measured apart: those that get a tool call, JSON or a letter for an answer,
 * and the others by their domain.
 */
export const KINDS = ['tools', 'json', 'choice', ...DOMAINS] as const;
export type PromptKind = (typeof KINDS)[number];

export function kindOf(
  { form, domain }: Pick<PromptFeatures, 'form'> & { readonly domain: Domain },
  needs: readonly Need[],
): PromptKind {
  if (needs.includes('tools')) return 'tools';
  if (needs.includes('json')) return 'json';
  return form === 'choice' ? 'choice' : domain;
}
