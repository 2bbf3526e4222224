import type { JsonObject, JsonValue } from '@tallystick/core';
import { asText, objectsOf, present } from '../../providers/members.ts';
import { stateless, type TextPlace, unsupportedMember } from '../protocol.ts';
import { detailsOf } from './reasoning.ts';

/** The conversation of a Responses request in chat's form. */
export interface Conversation {
  readonly messages: readonly JsonObject[];
  /** Places of the texts of users and of called functions. */
  readonly places: readonly TextPlace[];
  /** Members that only a provider with the same API can take. The messages hold their JSON, so that it is counted. */
  readonly nativeOnly: readonly string[];
}

/** @throws state_not_kept, invalid_request */
export function conversationOf(body: JsonObject): Conversation {
  const reader = new ItemReader();
  const { instructions, input } = body;
  if (typeof instructions === 'string') reader.say({ role: 'system', content: instructions });
  if (typeof input === 'string') reader.sayText('user', input, ['input']);
  else for (const [index, item] of objectsOf(input).entries()) reader.read(item, index);
  return reader.end();
}

/** What the assistant did between two inputs: one message in chat's form. */
interface Turn {
  readonly details: JsonObject[];
  readonly parts: JsonObject[];
  readonly calls: JsonObject[];
}

class ItemReader {
  readonly #messages: JsonObject[] = [];
  readonly #places: TextPlace[] = [];
  readonly #nativeOnly: string[] = [];
  #turn: Turn | null = null;

  end(): Conversation {
    this.#endTurn();
    return { messages: this.#messages, places: this.#places, nativeOnly: this.#nativeOnly };
  }

  say(message: JsonObject): void {
    this.#endTurn();
    this.#messages.push(message);
  }

  sayText(role: string, text: string, path: TextPlace['path']): void {
    this.say({ role, content: text });
    this.#places.push({ message: this.#messages.length - 1, part: null, path });
  }

  read(item: JsonObject, index: number): void {
    switch (item['type'] ?? 'message') {
      case 'message':
        return this.#readMessage(item, index);
      case 'function_call':
        return this.#readCall(item, index);
      case 'function_call_output':
        return this.#readResult(item, ['input', index, 'output']);
      case 'reasoning':
        return this.#readReasoning(item, index);
      case 'item_reference':
        throw stateless(
          `input[${index}]`,
          'This item is not kept, or no longer. Send each item whole; clients that refer to items by themselves do so no more with `store: false`.',
        );
      default:
        this.#nativeOnly.push(`input[${index}].type`);
        return this.say({ role: 'assistant', content: JSON.stringify(item) });
    }
  }

  #readMessage(item: JsonObject, index: number): void {
    const role = asText(item['role']) ?? '';
    const path = ['input', index, 'content'];
    if (role === 'assistant') this.#readAnswer(item['content'], path);
    // Many servers of chat know no `developer`, and those that do read `system` alike.
    else this.#sayContent({ role: role === 'developer' ? 'system' : role }, item['content'], path);
  }

  /** Text that comes after tool calls of the same turn stays in its message: chat's form wants each call's result next. */
  #readAnswer(content: JsonValue | undefined, path: TextPlace['path']): void {
    const turn = this.#turnFor(({ parts, calls }) => parts.length === 0 || calls.length > 0);
    if (typeof content === 'string') turn.parts.push({ type: 'text', text: content });
    else turn.parts.push(...this.#partsOf(content, path));
  }

  #readCall(item: JsonObject, index: number): void {
    const { call_id: id = '', name = '', arguments: text = '', namespace } = item;
    if (namespace !== undefined && namespace !== null) this.#nativeOnly.push(`input[${index}].namespace`);
    this.#turnFor(() => true).calls.push({ id, type: 'function', function: { name, arguments: text } });
  }

  #readResult(item: JsonObject, path: TextPlace['path']): void {
    this.#sayContent({ role: 'tool', tool_call_id: item['call_id'] ?? '' }, item['output'], path);
  }

  #readReasoning(item: JsonObject, index: number): void {
    const details = detailsOf(item);
    if (details === null)
      throw unsupportedMember(
        `input[${index}].encrypted_content`,
        'this is not as it was sent in the answer. Send reasoning items back unchanged.',
      );
    this.#turnFor(({ parts, calls }) => parts.length === 0 || calls.length > 0).details.push(...details);
  }

  #sayContent(head: JsonObject, content: JsonValue | undefined, path: TextPlace['path']): void {
    if (typeof content === 'string') {
      this.say({ ...head, content });
      this.#places.push({ message: this.#messages.length - 1, part: null, path });
      return;
    }
    const parts = this.#partsOf(content, path);
    this.say({ ...head, content: parts.length === 0 ? '' : parts });
    for (const [part, { type }] of parts.entries())
      if (type === 'text')
        this.#places.push({ message: this.#messages.length - 1, part, path: [...path, part, 'text'] });
  }

  #partsOf(content: JsonValue | undefined, path: TextPlace['path']): JsonObject[] {
    return objectsOf(content).map((part, index) => this.#partOf(part, `${fieldOf(path)}[${index}]`));
  }

  #partOf(part: JsonObject, field: string): JsonObject {
    const cache = present({ cache_control: cacheMark(part) });
    switch (part['type']) {
      case 'input_text':
      case 'output_text':
        return { type: 'text', text: part['text'] ?? '', ...cache };
      case 'refusal':
        return { type: 'refusal', refusal: part['refusal'] ?? '' };
      case 'input_image': {
        const { image_url: url, detail } = part;
        if (typeof url !== 'string') throw unsupportedMember(`${field}.image_url`, 'an image needs its URL.');
        return { type: 'image_url', image_url: present({ url, detail: detail ?? undefined }), ...cache };
      }
      case 'input_file': {
        const { file_data: data, file_url: url, filename } = part;
        if (typeof data !== 'string' && typeof url !== 'string')
          throw unsupportedMember(`${field}.file_data`, 'a file needs its data, or its URL in `file_url`.');
        // As in a translated Messages request, an address takes the place of the data.
        const file = { file_data: data ?? url ?? undefined, filename: filename ?? undefined };
        return { type: 'file', file: present(file), ...cache };
      }
      default:
        this.#nativeOnly.push(`${field}.type`);
        return { type: 'file', file: part };
    }
  }

  /** The assistant's open turn, if the item goes on with it; else a new one. */
  #turnFor(continues: (turn: Turn) => boolean): Turn {
    if (this.#turn !== null && !continues(this.#turn)) this.#endTurn();
    this.#turn ??= { details: [], parts: [], calls: [] };
    return this.#turn;
  }

  #endTurn(): void {
    if (this.#turn === null) return;
    const { parts, calls } = this.#turn;
    const details = this.#turn.details.filter((detail) => detail['extra_content'] === undefined);
    for (const { id = '', extra_content: extra } of this.#turn.details)
      for (const call of calls) if (extra !== undefined && call['id'] === id) call['extra_content'] = extra;
    this.#turn = null;
    const [first, ...more] = parts;
    const isText = first?.['type'] === 'text' && more.length === 0;
    this.#messages.push({
      role: 'assistant',
      content: first === undefined ? (calls.length > 0 ? null : '') : isText ? (first['text'] ?? '') : parts,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(details.length > 0 && { reasoning_details: details }),
    });
  }
}

/** OpenAI's mark of a prompt's cached start, as the mark that the inner form has. */
function cacheMark(part: JsonObject): JsonObject | undefined {
  const mark = part['prompt_cache_breakpoint'];
  return mark === undefined || mark === null ? undefined : { type: 'ephemeral' };
}

function fieldOf([first, ...rest]: TextPlace['path']): string {
  return rest.reduce<string>(
    (field, step) => field + (typeof step === 'number' ? `[${step}]` : `.${step}`),
    String(first),
  );
}
