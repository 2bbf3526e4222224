import type { JsonObject, JsonValue } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';

/** The protocols in which the service answers inference calls: OpenAI's chat, completions and responses, Anthropic's messages. */
export type CallProtocol = 'chat' | 'completions' | 'responses' | 'messages';

const OBJECTS: ReadonlyMap<JsonValue | undefined, CallProtocol> = new Map([
  ['chat.completion', 'chat'],
  ['chat.completion.chunk', 'chat'],
  ['text_completion', 'completions'],
  ['response', 'responses'],
]);

/** The protocol that an answer in one piece, or an event's payload, says it belongs to; null if it says nothing known. */
export function protocolOf(document: JsonValue): CallProtocol | null {
  if (!isObject(document)) return null;
  return OBJECTS.get(document['object']) ?? protocolOfType(document);
}

function protocolOfType({ type }: JsonObject): CallProtocol | null {
  if (typeof type !== 'string') return null;
  if (type.startsWith('response.')) return 'responses';
  return type === 'message' || type.startsWith('message_') ? 'messages' : null;
}
