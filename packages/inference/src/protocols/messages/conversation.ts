import type { JsonObject, JsonValue } from '@tallystick/core';
import { detailOfBlock } from '../../providers/anthropic-reasoning.ts';
import { asObject, asText, objectsOf, present } from '../../providers/members.ts';
import type { TextPlace } from '../protocol.ts';
import type { JsonPath } from '../splice.ts';

/** The conversation of a Messages request in inner form. */
export interface Conversation {
  readonly messages: readonly JsonObject[];
  readonly places: readonly TextPlace[];
}

/** A content block, and where it stands. */
interface Placed {
  readonly block: JsonObject;
  readonly path: JsonPath;
}

export function conversationOf({ system, messages }: JsonObject): Conversation {
  const writer = new Writer();
  if (system !== undefined && system !== null && system !== '' && !isEmptyList(system))
    writer.addContent({ role: 'system' }, system, ['system']);
  for (const [index, message] of objectsOf(messages).entries()) {
    const { role, content = '' } = message;
    const path = ['messages', index, 'content'];
    if (typeof content === 'string' || role === 'system')
      writer.addContent({ role: role ?? '' }, content, path);
    else if (role === 'assistant') writer.addAssistant(placed(content, path));
    else writer.addUser(placed(content, path));
  }
  return writer;
}

function isEmptyList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
}

function placed(content: JsonValue, path: JsonPath): Placed[] {
  return objectsOf(content).map((block, index) => ({ block, path: [...path, index] }));
}

class Writer implements Conversation {
  readonly messages: JsonObject[] = [];
  readonly places: TextPlace[] = [];

  /** Adds a message whose content is a text or blocks. */
  addContent(head: JsonObject, content: JsonValue, path: JsonPath): void {
    if (typeof content === 'string') {
      this.places.push({ message: this.messages.length, part: null, path });
      this.messages.push({ ...head, content });
    } else this.#addParts(head, placed(content, path));
  }

  /** Tool results come first, as both APIs want them. */
  addUser(blocks: readonly Placed[]): void {
    for (const { block, path } of blocks.filter(isResult)) {
      const { tool_use_id: id = '', content = '', is_error: failed, cache_control: cache } = block;
      const head = present({ role: 'tool', tool_call_id: id, is_error: failed, cache_control: cache });
      this.addContent(head, content, [...path, 'content']);
    }
    const others = blocks.filter((one) => !isResult(one));
    if (others.length > 0 || blocks.length === 0) this.#addParts({ role: 'user' }, others);
  }

  /** Thinking that follows a text begins a new message, since a message holds its reasoning before its text. */
  addAssistant(blocks: readonly Placed[]): void {
    let details: JsonObject[] = [];
    let said: Placed[] = [];
    const calls: JsonObject[] = [];
    const flush = (): void => {
      const head = present({
        role: 'assistant',
        reasoning_details: details.length > 0 ? details : undefined,
        tool_calls: calls.length > 0 ? calls : undefined,
      });
      if (said.length > 0) this.#addParts(head, said);
      else this.messages.push({ ...head, content: calls.length > 0 ? null : '' });
      details = [];
      said = [];
    };
    const extras: JsonObject[] = [];
    for (const one of blocks) {
      const detail = isThinking(one) ? detailOfBlock(one.block) : null;
      if (detail?.['extra_content'] !== undefined) extras.push(detail);
      else if (detail !== null) {
        if (said.length > 0 && calls.length === 0) flush();
        details.push(detail);
      } else if (one.block['type'] === 'tool_use') calls.push(toolCall(one.block));
      else said.push(one);
    }
    for (const { id, extra_content: extra = null } of extras)
      for (const call of calls) if (call['id'] === id) call['extra_content'] = extra;
    flush();
  }

  #addParts(head: JsonObject, blocks: readonly Placed[]): void {
    for (const [part, { block, path }] of blocks.entries())
      if (block['type'] === 'text')
        this.places.push({ message: this.messages.length, part, path: [...path, 'text'] });
    const content = blocks.map(({ block }) => partOf(block));
    this.messages.push({ ...head, content: content.length > 0 ? content : '' });
  }
}

const isResult = ({ block }: Placed): boolean => block['type'] === 'tool_result';

const isThinking = ({ block: { type } }: Placed): boolean =>
  type === 'thinking' || type === 'redacted_thinking';

function toolCall({ id, name, input, cache_control: cache }: JsonObject): JsonObject {
  return present({
    id,
    type: 'function',
    function: { name: name ?? '', arguments: JSON.stringify(input ?? {}) },
    cache_control: cache,
  });
}

/** A block as a content part. What has no counterpart stays as it is, and is served by no other provider. */
function partOf(block: JsonObject): JsonObject {
  const { type, text, source, title, cache_control: cache } = block;
  if (type === 'text') return present({ type, text, cache_control: cache });
  const url = type === 'image' || type === 'document' ? urlOf(asObject(source) ?? {}) : null;
  if (url === null) return block;
  if (type === 'image') return present({ type: 'image_url', image_url: { url }, cache_control: cache });
  const file = present({ file_data: url, filename: asText(title) ?? undefined });
  return present({ type: 'file', file, cache_control: cache });
}

/** Null for a source that only Anthropic can read. */
export function urlOf(source: JsonObject): string | null {
  const { type, url, data, media_type: mediaType } = source;
  if (type === 'url') return asText(url);
  if (type === 'base64') return `data:${asText(mediaType) ?? ''};base64,${asText(data) ?? ''}`;
  if (type !== 'text') return null;
  return `data:text/plain;base64,${Buffer.from(asText(data) ?? '').toString('base64')}`;
}
