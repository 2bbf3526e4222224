import { type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import { openAiError } from '@tallystick/kit';
import { asObject, asText, objectsOf } from '../../providers/members.ts';
import { argumentsText } from '../../providers/tool-arguments.ts';
import type { Usage } from '../../types.ts';
import { textOf } from '../answer-text.ts';
import { CallPieces } from '../call-pieces.ts';
import type { Given, SseEvent, StreamEncoder } from '../protocol.ts';
import { CallItem, type Item, MessageItem, ReasoningItem, type Tell } from './items.ts';
import { type Progress, responseObject } from './object.ts';

/** Writes an answer in chat's form as the events of OpenAI's Responses API. */
export class ResponseEncoder implements StreamEncoder {
  readonly #given: Given;
  readonly #asked: { readonly summary: boolean; readonly packed: boolean };
  #events: SseEvent[] = [];
  #sequence = 0;
  readonly #items: Item[] = [];
  /** The message or reasoning that is being written; calls stay open beside it until the end. */
  #current: MessageItem | ReasoningItem | null = null;
  readonly #calls = new CallPieces<CallItem>();
  #finish: JsonValue = null;
  /** The response object of a stream that passes as the provider sent it. */
  #native: JsonObject | null = null;

  constructor(given: Given) {
    this.#given = given;
    const { reasoning, include } = given.request;
    const { summary, generate_summary: older } = asObject(reasoning) ?? {};
    this.#asked = {
      summary: typeof (summary ?? older) === 'string',
      packed: Array.isArray(include) && include.includes('reasoning.encrypted_content'),
    };
  }

  take(chunk: JsonObject): readonly SseEvent[] {
    this.#begin();
    for (const choice of objectsOf(chunk['choices'])) {
      const delta = asObject(choice['delta']);
      if (delta !== null) this.#add(delta, objectsOf(asObject(choice['logprobs'])?.['content']));
      this.#finish = choice['finish_reason'] ?? this.#finish;
    }
    return this.#flush();
  }

  end(usage: Usage | null): readonly SseEvent[] {
    this.#begin();
    if (this.#items.every((item) => item instanceof ReasoningItem)) this.#message();
    const reason = this.#reason();
    this.#endItems(reason === undefined ? 'completed' : 'incomplete');
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#last(`response.${status}`, {
      response: this.#response({ status, usage, ...(reason && { reason }) }),
    });
    return this.#flush();
  }

  fail(error: TallyError): readonly SseEvent[] {
    this.#begin();
    const said = openAiError(error);
    const { message, code, param } = said;
    // The documented form and the one that OpenAI sends, both in one: clients read either.
    this.#tell('error', { code, message, param, error: { ...said } });
    const limited = code === 'rate_limit_exceeded';
    const failed = { code: limited ? code : 'server_error', message };
    this.#last('response.failed', { response: this.#failed(failed) });
    return this.#flush();
  }

  passed({ sequence_number: number, response }: JsonObject): void {
    if (typeof number === 'number') this.#sequence = number + 1;
    this.#native = asObject(response) ?? this.#native ?? {};
  }

  #begin(): void {
    if (this.#sequence > 0) return;
    for (const type of ['response.created', 'response.in_progress'])
      this.#tell(type, { response: this.#response({ status: 'in_progress' }) });
  }

  #add(delta: JsonObject, logprobs: readonly JsonObject[]): void {
    this.#addReasoning(delta);
    const text = textOf(delta['content']);
    if (text) this.#message().addText(text, logprobs);
    const refusal = asText(delta['refusal']);
    if (refusal) this.#message().addRefusal(refusal);
    for (const annotation of objectsOf(delta['annotations']))
      this.#message().addCitation(citationOf(annotation));
    for (const [position, call] of objectsOf(delta['tool_calls']).entries()) this.#addCall(call, position);
  }

  /** Text of reasoning comes as `reasoning_details`, or as one of the older members, which may repeat it. */
  #addReasoning(delta: JsonObject): void {
    const details = objectsOf(delta['reasoning_details']).filter(saysSomething);
    for (const detail of details) {
      this.#reasoning().keep(detail);
      const { type, index = null, id = null } = detail;
      const isSummary = type === 'reasoning.summary';
      const text = asText(detail[isSummary ? 'summary' : 'text']);
      if (text) this.#showReasoning(text, isSummary, JSON.stringify([type, index, id]));
    }
    if (details.some(({ text, summary }) => asText(text) || asText(summary))) return;
    const text =
      asText(delta['reasoning_content']) ?? asText(delta['reasoning']) ?? thoughtOf(delta['content']);
    if (!text) return;
    this.#reasoning().keep({ type: 'reasoning.text', text });
    this.#showReasoning(text, false, null);
  }

  #showReasoning(text: string, isSummary: boolean, part: unknown): void {
    const kind = isSummary || this.#asked.summary ? 'summary_text' : 'reasoning_text';
    this.#reasoning().addText(text, kind, part);
  }

  #addCall(call: JsonObject, position: number): void {
    const { name, arguments: text } = asObject(call['function']) ?? {};
    const item = this.#calls.of(call, position, (given, index) => {
      const id = given || `call_${this.#given.id}_${index}`;
      const extra = asObject(call['extra_content']);
      // What a provider wants back with the call has no place in the call's item.
      if (extra !== null) this.#reasoning().keep({ id, extra_content: extra });
      this.#endCurrent('completed');
      const begun = new CallItem(this.#idOf('fc'), { id, name: asText(name) ?? '' }, this.#teller());
      this.#items.push(begun);
      return begun;
    });
    const piece = argumentsText(text);
    if (piece) item.add(piece);
  }

  #message(): MessageItem {
    if (this.#current instanceof MessageItem) return this.#current;
    this.#endCurrent('completed');
    return this.#start(new MessageItem(this.#idOf('msg'), this.#teller()));
  }

  #reasoning(): ReasoningItem {
    if (this.#current instanceof ReasoningItem) return this.#current;
    this.#endCurrent('completed');
    return this.#start(new ReasoningItem(this.#idOf('rs'), this.#asked.packed, this.#teller()));
  }

  #start<T extends MessageItem | ReasoningItem>(item: T): T {
    this.#items.push(item);
    this.#current = item;
    return item;
  }

  #endCurrent(status: 'completed' | 'incomplete'): void {
    this.#current?.end(status);
    this.#current = null;
  }

  /** Only the item that was written last can be incomplete. */
  #endItems(status: 'completed' | 'incomplete'): void {
    const last = this.#items.at(-1);
    const statusOf = (item: Item | null): typeof status => (item === last ? status : 'completed');
    this.#endCurrent(statusOf(this.#current));
    for (const item of this.#items) if (item instanceof CallItem) item.end(statusOf(item));
  }

  #reason(): Progress['reason'] {
    if (this.#finish === 'length') return 'max_output_tokens';
    return this.#finish === 'content_filter' ? 'content_filter' : undefined;
  }

  #response(progress: Omit<Progress, 'output'>): JsonObject {
    return responseObject(this.#given, { ...progress, output: this.#items.map(({ now }) => now) });
  }

  #failed(error: JsonObject): JsonObject {
    if (this.#native !== null) return { ...this.#native, status: 'failed', error };
    const output = this.#items.map(({ now }) =>
      now['status'] === 'in_progress' ? { ...now, status: 'incomplete' } : now,
    );
    return responseObject(this.#given, { status: 'failed', error, output });
  }

  #idOf(prefix: 'msg' | 'rs' | 'fc'): string {
    const { id, secret } = this.#given;
    return `${prefix}_${id}_${this.#items.length}${secret === undefined ? '' : `_${secret}`}`;
  }

  /** Tells events of the next item. */
  #teller(): Tell {
    const output = { output_index: this.#items.length };
    return (type, members) => this.#tell(`response.${type}`, { ...output, ...members });
  }

  #tell(type: string, members: JsonObject): void {
    this.#last(type, members);
    this.#sequence += 1;
  }

  /** The last event may not be sent, if the bill fails: then that of the failure has its number. */
  #last(type: string, members: JsonObject): void {
    this.#events.push({ event: type, data: { type, sequence_number: this.#sequence, ...members } });
  }

  #flush(): readonly SseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

const saysSomething = (detail: JsonObject): boolean =>
  ['text', 'summary', 'data', 'signature'].some((name) => asText(detail[name]));

/** Reasoning in a part of the content. */
function thoughtOf(content: JsonValue | undefined): string {
  return objectsOf(content)
    .flatMap(({ thinking }) =>
      typeof thinking === 'string' ? [thinking] : objectsOf(thinking).map(({ text }) => text),
    )
    .map((text) => asText(text) ?? '')
    .join('');
}

/** Chat puts the members of a citation one level deeper. */
function citationOf(annotation: JsonObject): JsonObject {
  const { type = '' } = annotation;
  const members = asObject(annotation[asText(type) ?? '']);
  return members === null ? annotation : { type, ...members };
}
