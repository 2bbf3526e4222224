import type { JsonObject } from '@tallystick/core';
import { asObject, asText } from './members.ts';

/**
 * Begins the data of a `redacted_thinking` block that holds, as JSON, what another provider than Anthropic wants back
 * with the next turn: a reasoning detail, or the `extra_content` of the tool call of an id.
 */
const FOREIGN = 'tallystick:';

/** A reasoning detail of an answer as a block of thinking. What has no signature is not Anthropic's. */
export function blockOfDetail(detail: JsonObject): JsonObject {
  const { type, text, summary, signature, data } = detail;
  if (type === 'reasoning.text')
    return {
      type: 'thinking',
      thinking: asText(text) ?? '',
      signature: isForeign(detail) ? '' : (asText(signature) ?? ''),
    };
  if (type === 'reasoning.summary')
    return { type: 'thinking', thinking: asText(summary) ?? '', signature: '' };
  return typeof data !== 'string' || isForeign(detail)
    ? foreignBlock(detail)
    : { type: 'redacted_thinking', data };
}

/** OpenRouter's `format` names the provider; only other providers than Anthropic give an `id`. */
function isForeign({ id, format }: JsonObject): boolean {
  return typeof id === 'string' || (typeof format === 'string' && !format.startsWith('anthropic'));
}

export function foreignBlock(content: JsonObject): JsonObject {
  return { type: 'redacted_thinking', data: `${FOREIGN}${JSON.stringify(content)}` };
}

/** The reasoning detail of a `thinking` or `redacted_thinking` block of an earlier answer. */
export function detailOfBlock({ type, thinking, signature, data }: JsonObject): JsonObject {
  if (type === 'thinking')
    return {
      type: 'reasoning.text',
      text: thinking ?? '',
      ...(signature !== '' && { signature: signature ?? '' }),
    };
  return foreignDetail(asText(data) ?? '') ?? { type: 'reasoning.encrypted', data: data ?? '' };
}

/** Whether Anthropic would refuse the block, because another provider reasoned. */
export function isForeignBlock({ type, signature, data }: JsonObject): boolean {
  if (type === 'redacted_thinking') return foreignDetail(asText(data) ?? '') !== null;
  return type === 'thinking' && signature === '';
}

function foreignDetail(data: string): JsonObject | null {
  if (!data.startsWith(FOREIGN)) return null;
  try {
    return asObject(JSON.parse(data.slice(FOREIGN.length)));
  } catch {
    return null;
  }
}
