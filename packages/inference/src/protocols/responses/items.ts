import type { JsonObject } from '@tallystick/core';
import { asText, present } from '../../providers/members.ts';
import { packDetails } from './reasoning.ts';

/** Sends an event of one item: its `type` after `response.`, and what it says besides the item. */
export type Tell = (type: string, members: JsonObject) => void;

/** An item of the output while it is written. */
export interface Item {
  /** Tells the last events of the item. @param status as it ends up */
  end(status: 'completed' | 'incomplete'): void;
  /** The item as it stands. */
  readonly now: JsonObject;
}

/** A part whose text grows. */
interface OpenPart {
  readonly kind: string;
  readonly part: JsonObject;
  readonly index: number;
}

/** A part of a message. The lists are empty in a refusal. */
interface MessagePart extends OpenPart {
  readonly annotations: JsonObject[];
  readonly logprobs: JsonObject[];
}

/** A message of the assistant: text, refusals, citations. */
export class MessageItem implements Item {
  readonly #tell: Tell;
  readonly #id: string;
  readonly #content: JsonObject[] = [];
  #open: MessagePart | null = null;
  #status = 'in_progress';

  constructor(id: string, tell: Tell) {
    this.#id = id;
    this.#tell = tell;
    tell('output_item.added', { item: this.now });
  }

  get now(): JsonObject {
    const content = this.#content.map((part) => ({ ...part }));
    return { id: this.#id, type: 'message', status: this.#status, role: 'assistant', content };
  }

  addText(delta: string, logprobs: readonly JsonObject[]): void {
    const open = this.#part('output_text');
    open.part['text'] = `${asText(open.part['text'])}${delta}`;
    open.logprobs.push(...logprobs);
    this.#tell('output_text.delta', { ...this.#at(open.index), delta, logprobs: [...logprobs] });
  }

  addRefusal(delta: string): void {
    const { part, index } = this.#part('refusal');
    part['refusal'] = `${asText(part['refusal'])}${delta}`;
    this.#tell('refusal.delta', { ...this.#at(index), delta });
  }

  addCitation(annotation: JsonObject): void {
    const { index, annotations } = this.#part('output_text');
    const place = { ...this.#at(index), annotation_index: annotations.push(annotation) - 1 };
    this.#tell('output_text.annotation.added', { ...place, annotation });
  }

  end(status: 'completed' | 'incomplete'): void {
    this.#endPart();
    this.#status = status;
    this.#tell('output_item.done', { item: this.now });
  }

  #part(kind: 'output_text' | 'refusal'): MessagePart {
    if (this.#open?.kind === kind) return this.#open;
    this.#endPart();
    const annotations: JsonObject[] = [];
    const logprobs: JsonObject[] = [];
    const isText = kind === 'output_text';
    const part = isText ? { type: kind, text: '', annotations, logprobs } : { type: kind, refusal: '' };
    const index = this.#content.push(part) - 1;
    const empty = isText ? { ...part, annotations: [], logprobs: [] } : { ...part };
    this.#tell('content_part.added', { ...this.#at(index), part: empty });
    this.#open = { kind, part, index, annotations, logprobs };
    return this.#open;
  }

  #endPart(): void {
    if (this.#open === null) return;
    const { kind, part, index } = this.#open;
    const { text = '', logprobs = [], refusal = '' } = part;
    const at = this.#at(index);
    this.#tell(`${kind}.done`, kind === 'refusal' ? { ...at, refusal } : { ...at, text, logprobs });
    this.#tell('content_part.done', { ...at, part: { ...part } });
    this.#open = null;
  }

  #at(index: number): JsonObject {
    return { item_id: this.#id, content_index: index };
  }
}

/** Members of a reasoning detail that its provider wants back unchanged. */
const OPAQUE = ['signature', 'data', 'extra_content'] as const;

/** Reasoning: the text that the model shows of it, and what only its provider can read. */
export class ReasoningItem implements Item {
  readonly #tell: Tell;
  readonly #id: string;
  readonly #packs: boolean;
  readonly #summary: JsonObject[] = [];
  readonly #content: JsonObject[] = [];
  readonly #details: JsonObject[] = [];
  #open: (OpenPart & { readonly of: unknown }) | null = null;
  #ended = false;

  /** @param packs whether the caller asked for the opaque form in any case */
  constructor(id: string, packs: boolean, tell: Tell) {
    this.#id = id;
    this.#packs = packs;
    this.#tell = tell;
    tell('output_item.added', { item: this.now });
  }

  get now(): JsonObject {
    const opaque = this.#packs || this.#details.some((detail) => OPAQUE.some((name) => name in detail));
    return {
      id: this.#id,
      type: 'reasoning',
      summary: this.#summary.map((part) => ({ ...part })),
      ...(this.#content.length > 0 && { content: this.#content.map((part) => ({ ...part })) }),
      ...(this.#ended && opaque && { encrypted_content: packDetails(this.#details) }),
    };
  }

  /** Shows a piece of reasoning. @param of tells parts apart: pieces of one part follow each other */
  addText(delta: string, kind: 'summary_text' | 'reasoning_text', of: unknown): void {
    const { part, index } = this.#part(kind, of);
    part['text'] = `${asText(part['text'])}${delta}`;
    this.#tell(kind === 'summary_text' ? 'reasoning_summary_text.delta' : 'reasoning_text.delta', {
      ...this.#at(kind, index),
      delta,
    });
  }

  /** Keeps a piece of `reasoning_details` for the opaque form. */
  keep(detail: JsonObject): void {
    const last = this.#details.at(-1);
    if (last === undefined || !continues(last, detail)) this.#details.push({ ...detail });
    else
      for (const [name, value] of Object.entries(detail))
        if (name === 'text' || name === 'summary')
          last[name] = `${asText(last[name]) ?? ''}${asText(value) ?? ''}`;
        else if (value !== null) last[name] = value;
  }

  end(): void {
    this.#endPart();
    this.#ended = true;
    this.#tell('output_item.done', { item: this.now });
  }

  #part(kind: 'summary_text' | 'reasoning_text', of: unknown): OpenPart {
    if (this.#open?.kind === kind && this.#open.of === of) return this.#open;
    this.#endPart();
    const part = { type: kind, text: '' };
    const index = (kind === 'summary_text' ? this.#summary : this.#content).push(part) - 1;
    this.#tell(kind === 'summary_text' ? 'reasoning_summary_part.added' : 'content_part.added', {
      ...this.#at(kind, index),
      part: { ...part },
    });
    this.#open = { kind, part, index, of };
    return this.#open;
  }

  #endPart(): void {
    if (this.#open === null) return;
    const { kind, part, index } = this.#open;
    const at = this.#at(kind, index);
    const isSummary = kind === 'summary_text';
    this.#tell(isSummary ? 'reasoning_summary_text.done' : 'reasoning_text.done', {
      ...at,
      text: part['text'] ?? '',
    });
    this.#tell(isSummary ? 'reasoning_summary_part.done' : 'content_part.done', { ...at, part: { ...part } });
    this.#open = null;
  }

  #at(kind: string, index: number): JsonObject {
    return { item_id: this.#id, [kind === 'summary_text' ? 'summary_index' : 'content_index']: index };
  }
}

/** Whether a detail goes on with the one before it, as streams split them. */
function continues(last: JsonObject, { type, index, id }: JsonObject): boolean {
  const isText = type === 'reasoning.text' || type === 'reasoning.summary';
  const isSame = last['type'] === type && (index ?? null) === (last['index'] ?? null);
  return isText && isSame && (id === undefined || last['id'] === undefined || id === last['id']);
}

/** A call of a function. */
export class CallItem implements Item {
  readonly #tell: Tell;
  readonly #head: JsonObject;
  #arguments = '';
  #status = 'in_progress';

  constructor(id: string, call: { readonly id: string; readonly name: string }, tell: Tell) {
    this.#head = { id, type: 'function_call', call_id: call.id, name: call.name };
    this.#tell = tell;
    tell('output_item.added', { item: this.now });
  }

  get now(): JsonObject {
    return present({ ...this.#head, status: this.#status, arguments: this.#arguments });
  }

  add(delta: string): void {
    this.#arguments += delta;
    this.#tell('function_call_arguments.delta', { item_id: this.#head['id'] ?? '', delta });
  }

  /** OpenAI's clients parse the arguments also of a call that has none. */
  end(status: 'completed' | 'incomplete'): void {
    if (status === 'completed' && this.#arguments === '') this.add('{}');
    this.#status = status;
    const { id = '', name = '' } = this.#head;
    this.#tell('function_call_arguments.done', { item_id: id, name, arguments: this.#arguments });
    this.#tell('output_item.done', { item: this.now });
  }
}
