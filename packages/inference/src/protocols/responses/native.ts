import type { JsonObject, JsonValue } from '@tallystick/core';
import { type AnswerHead, deltaChunk, type FinishReason } from '../../providers/completion.ts';
import { badAnswer } from '../../providers/failures.ts';
import { asObject, asText, objectsOf, present } from '../../providers/members.ts';
import { readUsage } from '../../providers/usage.ts';
import type { Reported } from '../../types.ts';
import type { InnerStream } from '../protocol.ts';
import { FORMAT } from './reasoning.ts';

/** A `response` object of a provider as a `chat.completion`, and the usage that it tells. @throws ProviderError bad_answer */
export function innerAnswer(
  provider: string,
  response: JsonObject,
): { readonly body: JsonObject; readonly usage: Reported } {
  const { output, status } = response;
  if (!Array.isArray(output) || (status !== 'completed' && status !== 'incomplete'))
    throw badAnswer(provider);
  const items = objectsOf(output);
  const unseen = items.some(isUnseen);
  const usage = usageOf(response['usage']);
  const message = messageOf(items);
  const finish = finishOf(response, items.some(isCall));
  const body = {
    id: response['id'] ?? '',
    object: 'chat.completion',
    created: response['created_at'] ?? 0,
    model: response['model'] ?? '',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(usage !== undefined && { usage }),
    ...servedAs(response),
  };
  return { body, usage: readUsage(body, unseen) };
}

/** Events before the first output, after which a call can still go to another provider. */
const BEFORE: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);

/** Statuses of the codes by which the API tells a failure in an answer; 500 for the others. */
const STATUS: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  invalid_prompt: 400,
  context_length_exceeded: 400,
};

/** The failure that an event, or an answer in one piece, tells: OpenAI's members of an error and its status. */
export function errorIn(json: JsonObject): JsonObject | null {
  const error = failureIn(json);
  return error && { ...error, status: STATUS[asText(error['code']) ?? ''] ?? 500 };
}

/** Documented are the members of an `error` event at its top; sent are those of its member `error`. */
function failureIn(json: JsonObject): JsonObject | null {
  if (json['type'] === 'error') return asObject(json['error']) ?? json;
  const response = json['type'] === 'response.failed' ? (asObject(json['response']) ?? {}) : json;
  return asObject(response['error']) ?? (response === json ? null : {});
}

/** Converts the events of a provider's Responses stream, one after another, to `chat.completion.chunk`s. */
export class ResponseReader implements InnerStream {
  readonly #provider: string;
  #begun = false;
  #head: AnswerHead | null = null;
  /** Index of each call among the calls of the answer, by the index of its item. */
  readonly #calls = new Map<JsonValue | undefined, number>();
  /** Whether the model produced something that is left out here. */
  unseen = false;
  /** Whether the last event has arrived. */
  ended = false;

  constructor(provider: string) {
    this.#provider = provider;
  }

  /**
   * What an event adds to the answer. The first chunk comes with the first event after the ones that only say that the
   * answer was begun.
   * @throws ProviderError bad_answer for an event after the end
   */
  take(event: JsonObject): JsonObject[] {
    const { type } = event;
    if (this.ended) throw badAnswer(this.#provider);
    this.#head ??= headOf(asObject(event['response']) ?? {});
    if (BEFORE.has(asText(type) ?? '')) return [];
    const delta = this.#deltaOf(event);
    const chunks = delta === null ? this.#end(this.#head, event) : [deltaChunk(this.#head, delta)];
    if (this.#begun) return chunks;
    this.#begun = true;
    return [deltaChunk(this.#head, { role: 'assistant', content: '' }), ...chunks];
  }

  #deltaOf(event: JsonObject): JsonObject | null {
    const { type, delta = '', item_id: id = '', output_index: output } = event;
    switch (type) {
      case 'response.output_text.delta':
        return { content: delta };
      case 'response.refusal.delta':
        return { refusal: delta };
      case 'response.output_text.annotation.added':
        return { annotations: [event['annotation'] ?? {}] };
      case 'response.reasoning_text.delta':
        return reasoning({ type: 'reasoning.text', text: delta, id, index: event['content_index'] ?? 0 });
      case 'response.reasoning_summary_text.delta':
        return reasoning({
          type: 'reasoning.summary',
          summary: delta,
          id,
          index: event['summary_index'] ?? 0,
        });
      case 'response.output_item.added':
        return this.#startItem(asObject(event['item']) ?? {}, output);
      case 'response.output_item.done':
        return sealedOf(asObject(event['item']) ?? {});
      case 'response.function_call_arguments.delta':
        return this.#continueCall(output, { function: { arguments: delta } });
      case 'response.custom_tool_call_input.delta':
        return this.#continueCall(output, { custom: { input: delta } });
      default:
        return null;
    }
  }

  #startItem(item: JsonObject, output: JsonValue | undefined): JsonObject | null {
    this.unseen ||= isUnseen(item);
    if (!isCall(item)) return null;
    const index = this.#calls.size;
    this.#calls.set(output, index);
    return { tool_calls: [{ index, ...callOf({ ...item, arguments: '', input: '' }) }] };
  }

  #continueCall(output: JsonValue | undefined, piece: JsonObject): JsonObject | null {
    const index = this.#calls.get(output);
    return index === undefined ? null : { tool_calls: [{ index, ...piece }] };
  }

  #end(head: AnswerHead, { type, response }: JsonObject): JsonObject[] {
    const answer = asObject(response) ?? {};
    if (type !== 'response.completed' && type !== 'response.incomplete') return [];
    this.ended = true;
    const finish = deltaChunk(head, {}, finishOf(answer, this.#calls.size > 0));
    const usage = usageOf(answer['usage']);
    return usage === undefined
      ? [finish]
      : [finish, { ...deltaChunk(head, {}), choices: [], usage, ...servedAs(answer) }];
  }
}

function headOf({ id, created_at: created, model }: JsonObject): AnswerHead {
  return {
    id: asText(id) ?? '',
    created: typeof created === 'number' ? created : 0,
    model: asText(model) ?? '',
  };
}

function messageOf(items: readonly JsonObject[]): JsonObject {
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => objectsOf(content));
  const textOf = (name: string): string => parts.map((part) => asText(part[name]) ?? '').join('');
  const details = items.flatMap((item) => (item['type'] === 'reasoning' ? detailsOf(item) : []));
  const annotations = parts.flatMap((part) => objectsOf(part['annotations']));
  const calls = items.filter(isCall).map(callOf);
  const text = textOf('text');
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: textOf('refusal') || null,
    ...(annotations.length > 0 && { annotations }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function detailsOf(item: JsonObject): JsonObject[] {
  const id = item['id'] ?? '';
  return [
    ...objectsOf(item['summary']).map(({ text = '' }, index) => ({
      type: 'reasoning.summary',
      summary: text,
      id,
      index,
    })),
    ...objectsOf(item['content']).map(({ text = '' }, index) => ({
      type: 'reasoning.text',
      text,
      id,
      index,
    })),
    ...objectsOf(sealedOf(item)?.['reasoning_details']),
  ];
}

function sealedOf({ type, id = '', encrypted_content: data }: JsonObject): JsonObject | null {
  if (type !== 'reasoning' || typeof data !== 'string') return null;
  return reasoning({ type: 'reasoning.encrypted', data, id, format: FORMAT });
}

function reasoning(detail: JsonObject): JsonObject {
  return { reasoning_details: [detail] };
}

const isCall = ({ type }: JsonObject): boolean => type === 'function_call' || type === 'custom_tool_call';

/** Whether an item is the work of a tool of the provider's: its tokens are counted, but its text is not among the answer's. */
const isUnseen = (item: JsonObject): boolean =>
  !isCall(item) && item['type'] !== 'message' && item['type'] !== 'reasoning';

function callOf({
  type,
  call_id: id = '',
  name = '',
  arguments: text = '',
  input = '',
}: JsonObject): JsonObject {
  return type === 'custom_tool_call'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: text } };
}

function finishOf(response: JsonObject, calls: boolean): FinishReason {
  const reason = asObject(response['incomplete_details'])?.['reason'];
  if (response['status'] === 'incomplete') return reason === 'content_filter' ? 'content_filter' : 'length';
  return calls ? 'tool_calls' : 'stop';
}

function servedAs({ service_tier }: JsonObject): JsonObject {
  return service_tier === undefined ? {} : { service_tier };
}

/** The counts in chat's form; undefined if there are none. */
function usageOf(value: JsonValue | undefined): JsonObject | undefined {
  const usage = asObject(value);
  if (usage === null) return undefined;
  const input = asObject(usage['input_tokens_details']);
  const output = asObject(usage['output_tokens_details']);
  return present({
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    total_tokens: usage['total_tokens'],
    prompt_tokens_details: present({
      cached_tokens: input?.['cached_tokens'],
      cache_write_tokens: input?.['cache_write_tokens'],
    }),
    completion_tokens_details: present({ reasoning_tokens: output?.['reasoning_tokens'] }),
  });
}
