import type { ChatMessage, ContentPart, MessagePart } from './messages.ts';

/** Roles whose turns may be compressed: the material that tools and users bring in. */
const compressible = new Set(['tool', 'function', 'user']);

/**
 * Tells which texts reach the provider byte for byte: everything up to the last explicit cache breakpoint (a `cache_control`
 * member on a message or a part), and every turn of the system, the developer and the assistant.
 */
export function freezeMap(messages: readonly ChatMessage[]): (place: MessagePart) => boolean {
  const last = lastBreakpoint(messages);
  return ({ message, part }) => {
    const role = messages[message]?.role;
    if (role === undefined || !compressible.has(role)) return true;
    if (last === undefined || message > last.message) return false;
    return message < last.message || last.part === null || part === null || part <= last.part;
  };
}

function lastBreakpoint(messages: readonly ChatMessage[]): MessagePart | undefined {
  for (let message = messages.length - 1; message >= 0; message--) {
    const { content, cache_control: whole } = messages[message] ?? { role: '' };
    if (isSet(whole)) return { message, part: null };
    if (!Array.isArray(content)) continue;
    const part = (content as readonly ContentPart[]).findLastIndex((part) => isSet(part?.cache_control));
    if (part >= 0) return { message, part };
  }
  return undefined;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
