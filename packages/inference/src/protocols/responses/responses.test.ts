import { canonicalize, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import * as fc from 'fast-check';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type {
  Response,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import type { SseEvent } from '../protocol.ts';
import { answerOf } from './answer.ts';
import { packDetails } from './reasoning.ts';
import { ResponseEncoder } from './stream.ts';

/** A response as it is sent: OpenAI's client adds `output_text`, and its types leave out `store` and a `usage` of null. */
type Sent = Omit<Response, 'output_text' | 'usage'> & { store: false; usage: Response['usage'] | null };
/** An event as it is sent. */
type SentEvent =
  | Exclude<ResponseStreamEvent, { response: Response }>
  | { type: string; sequence_number: number; response: Sent };

const id = 'r_env_1760000000_0123456789ab';
const given = { request: { input: 'hi' }, id, model: 'openai/gpt-4o-mini', created: 1_760_000_000 };
const usage = {
  promptTokens: 12,
  completionTokens: 8,
  cachedTokens: 4,
  hidden: 3,
  estimated: false,
} as const;

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

function streamOf(request: JsonObject, chunks: readonly JsonObject[]): SseEvent[] {
  const encoder = new ResponseEncoder({ ...given, request });
  return [...chunks.flatMap((one) => encoder.take(one)), ...encoder.end(usage)];
}

const dataOf = (events: readonly SseEvent[]): JsonObject[] => events.map(({ data }) => data);

const whole = {
  id: `resp_${id}`,
  object: 'response',
  created_at: 1_760_000_000,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: 'openai/gpt-4o-mini',
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  metadata: {},
  access_programs: null,
  store: false,
} as const satisfies Partial<Sent>;

const counted: Response['usage'] = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 20,
};

describe('the stream', () => {
  it('of text is that of OpenAI', () => {
    const item_id = `msg_${id}_0`;
    const at = { item_id, output_index: 0, content_index: 0 } as const;
    const part = (text: string): ResponseOutputText => ({
      type: 'output_text',
      text,
      annotations: [],
      logprobs: [],
    });
    const message = (
      status: 'in_progress' | 'completed',
      ...content: ResponseOutputText[]
    ): ResponseOutputMessage => ({ id: item_id, type: 'message', status, role: 'assistant', content });
    const begun: Sent = { ...whole, status: 'in_progress', output: [], usage: null };
    const done = message('completed', part('Hello'));
    const expected: SentEvent[] = [
      { type: 'response.created', sequence_number: 0, response: begun },
      { type: 'response.in_progress', sequence_number: 1, response: begun },
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: message('in_progress'),
      },
      { type: 'response.content_part.added', sequence_number: 3, ...at, part: part('') },
      { type: 'response.output_text.delta', sequence_number: 4, ...at, delta: 'Hel', logprobs: [] },
      { type: 'response.output_text.delta', sequence_number: 5, ...at, delta: 'lo', logprobs: [] },
      { type: 'response.output_text.done', sequence_number: 6, ...at, text: 'Hello', logprobs: [] },
      { type: 'response.content_part.done', sequence_number: 7, ...at, part: part('Hello') },
      { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item: done },
      {
        type: 'response.completed',
        sequence_number: 9,
        response: { ...whole, status: 'completed', output: [done], usage: counted },
      },
    ];
    const events = streamOf({ input: 'hi' }, [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
    ]);
    expect(dataOf(events)).toEqual(expected);
    expect(events.map(({ event }) => event)).toEqual(expected.map(({ type }) => type));
  });

  it('of reasoning and calls is that of OpenAI', () => {
    const rs = { item_id: `rs_${id}_0`, output_index: 0 } as const;
    const details = [{ type: 'reasoning.text', text: 'Look it up.', signature: 'sig', index: 0 }];
    const reasoned = {
      id: rs.item_id,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Look it up.' }],
      encrypted_content: packDetails(details),
    } as const satisfies ResponseOutputItem;
    const call = (index: number, status: 'in_progress' | 'completed', text: string) =>
      ({
        id: `fc_${id}_${index}`,
        type: 'function_call',
        status,
        call_id: `call_${index}`,
        name: 'weather',
        arguments: text,
      }) as const satisfies ResponseOutputItem;
    const added = (output_index: number, item: ResponseOutputItem) => ({
      type: 'response.output_item.added' as const,
      output_index,
      item,
    });
    const done = (output_index: number, item: ResponseOutputItem) => ({
      type: 'response.output_item.done' as const,
      output_index,
      item,
    });
    const args = (output_index: number) => ({ item_id: `fc_${id}_${output_index}`, output_index });
    const part = (text: string) => ({ type: 'summary_text', text }) as const;
    const expected: Unnumbered<ResponseStreamEvent>[] = [
      added(0, { id: rs.item_id, type: 'reasoning', summary: [] }),
      { type: 'response.reasoning_summary_part.added', ...rs, summary_index: 0, part: part('') },
      { type: 'response.reasoning_summary_text.delta', ...rs, summary_index: 0, delta: 'Look ' },
      { type: 'response.reasoning_summary_text.delta', ...rs, summary_index: 0, delta: 'it up.' },
      { type: 'response.reasoning_summary_text.done', ...rs, summary_index: 0, text: 'Look it up.' },
      {
        type: 'response.reasoning_summary_part.done',
        ...rs,
        summary_index: 0,
        part: part('Look it up.'),
      },
      done(0, reasoned),
      added(1, call(1, 'in_progress', '')),
      { type: 'response.function_call_arguments.delta', ...args(1), delta: '{"a"' },
      { type: 'response.function_call_arguments.delta', ...args(1), delta: ':1}' },
      added(2, call(2, 'in_progress', '')),
      { type: 'response.function_call_arguments.delta', ...args(2), delta: '{}' },
      named({ type: 'response.function_call_arguments.done', ...args(1), arguments: '{"a":1}' }),
      done(1, call(1, 'completed', '{"a":1}')),
      named({ type: 'response.function_call_arguments.done', ...args(2), arguments: '{}' }),
      done(2, call(2, 'completed', '{}')),
    ];
    const tool = (index: number, text: string, head: JsonObject = {}) =>
      chunk({ tool_calls: [{ index, ...head, function: { arguments: text, ...head } }] });
    const events = streamOf({ input: 'hi', reasoning: { summary: 'auto' } }, [
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Look ', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'it up.', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }] }),
      tool(0, '{"a"', { id: 'call_1', name: 'weather' }),
      tool(0, ':1}'),
      tool(1, '{}', { id: 'call_2', name: 'weather' }),
      chunk({}, 'tool_calls'),
    ]);
    const data = dataOf(events);
    expect(data.map(({ sequence_number: number }) => number)).toEqual([...data.keys()]);
    expect(data.slice(2, -1).map(({ sequence_number: _number, ...event }) => event)).toEqual(expected);
    expect(data.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [reasoned, call(1, 'completed', '{"a":1}'), call(2, 'completed', '{}')] },
    });
  });

  it.each([{ index: 0 }, {}])('tells calls apart by their ids, where all have %j', (place) => {
    const piece = (text: string, head: JsonObject = {}) =>
      chunk({ tool_calls: [{ ...place, ...head, function: { arguments: text, ...head } }] });
    const data = dataOf(
      streamOf({}, [
        piece('{"a"', { id: 'call_1', name: 'weather' }),
        piece(':1}', { id: '' }),
        piece('{"b"', { id: 'call_2', name: 'time' }),
        piece(':2}', { id: 'call_2' }),
        chunk({}, 'tool_calls'),
      ]),
    );
    expect(data.at(-1)).toMatchObject({
      response: {
        output: [
          { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"a":1}' },
          { type: 'function_call', call_id: 'call_2', name: 'time', arguments: '{"b":2}' },
        ],
      },
    });
    expect(data.filter(({ type }) => type === 'response.output_item.done')).toHaveLength(2);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('that ends by %s is incomplete', (finish, reason) => {
    const last = dataOf(streamOf({}, [chunk({ content: 'Hel' }), chunk({}, finish)])).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason },
        output: [{ type: 'message', status: 'incomplete' }],
      },
    });
  });

  it('says what broke it off, in both forms of OpenAI, and what came before', () => {
    const encoder = new ResponseEncoder(given);
    const before = encoder.take(chunk({ content: 'Hel' }));
    const [error, failed] = dataOf(encoder.fail(new TallyError('provider_failed', 'It broke.')));
    expect(error).toEqual({
      type: 'error',
      sequence_number: before.length,
      code: 'provider_failed',
      message: 'It broke.',
      param: null,
      error: { type: 'server_error', code: 'provider_failed', message: 'It broke.', param: null },
    });
    expect(failed).toMatchObject({
      type: 'response.failed',
      sequence_number: before.length + 1,
      response: {
        status: 'failed',
        error: { code: 'server_error', message: 'It broke.' },
        output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Hel' }] }],
      },
    });
  });

  it('that failed after its end goes on with the number of the event that was not sent', () => {
    const encoder = new ResponseEncoder(given);
    const begun = encoder.take(chunk({ content: 'Hel' }));
    const ended = encoder.end(usage);
    const [error] = dataOf(encoder.fail(new TallyError('unavailable', 'No bill.')));
    expect(error?.['sequence_number']).toBe(begun.length + ended.length - 1);
  });

  it('that passed as the provider sent it can still fail', () => {
    const encoder = new ResponseEncoder(given);
    encoder.passed({
      type: 'response.created',
      sequence_number: 0,
      response: { id: 'resp_theirs', output: [] },
    });
    encoder.passed({ type: 'response.output_text.delta', sequence_number: 7 });
    const data = dataOf(encoder.fail(new TallyError('provider_rate_limited', 'Slower.')));
    expect(data).toMatchObject([
      { type: 'error', sequence_number: 8, code: 'rate_limit_exceeded' },
      {
        type: 'response.failed',
        sequence_number: 9,
        response: { id: 'resp_theirs', status: 'failed', error: { code: 'rate_limit_exceeded' } },
      },
    ]);
  });
});

/** An event without its number. */
type Unnumbered<Event> = Event extends { sequence_number: number } ? Omit<Event, 'sequence_number'> : never;

/** Newer versions of the API also name the function. */
function named<T extends object>(event: T): T {
  return { ...event, name: 'weather' };
}

describe('an answer in one piece', () => {
  const answer = (message: JsonObject, request: JsonObject = {}, finish = 'stop'): JsonObject =>
    answerOf(
      {
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
        usage: { prompt_tokens: 12, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 4 } },
      },
      { ...given, request },
    );

  it('repeats the request, and says what is not kept', () => {
    const request = {
      instructions: 'Be brief.',
      max_output_tokens: 9,
      temperature: 0.5,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low', format: { type: 'json_object' } },
      tools: [{ type: 'function', name: 'f' }],
      metadata: { a: 'b' },
      user: 'u',
    };
    expect(answer({ content: 'Hello' }, request)).toMatchObject({
      ...request,
      store: false,
      reasoning: { effort: 'low', summary: null },
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
      usage: { input_tokens: 12, output_tokens: 8, total_tokens: 20 },
    });
  });

  it('with a refusal, citations, and probabilities', () => {
    const [refused] = outputOf(answer({ content: null, refusal: 'No.' }));
    expect(refused).toMatchObject({ content: [{ type: 'refusal', refusal: 'No.' }] });
    const url = { start_index: 0, end_index: 5, title: 'T', url: 'https://example.org' };
    const cited = { content: 'Hello', annotations: [{ type: 'url_citation', url_citation: url }] };
    const [message] = outputOf(answer(cited));
    expect(message).toMatchObject({
      content: [{ text: 'Hello', annotations: [{ type: 'url_citation', ...url }] }],
    });
  });

  it('has a message even if nothing is said', () => {
    expect(outputOf(answer({ content: '' }))).toMatchObject([{ type: 'message', content: [] }]);
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    expect(outputOf(answer({ content: null, tool_calls: [call] }))).toMatchObject([
      { type: 'function_call' },
    ]);
  });

  it('shows reasoning as content, or as the summary that was asked for', () => {
    const text = { content: 'Hi', reasoning_content: 'Hm.' };
    expect(outputOf(answer(text))[0]).toEqual({
      id: `rs_${id}_0`,
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
    });
    const asked = { reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'] };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const extra = { google: { thought_signature: 's' } };
    expect(
      outputOf(answer({ content: null, tool_calls: [{ ...call, extra_content: extra }] })),
    ).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: packDetails([{ id: 'c', extra_content: extra }]) },
      { type: 'function_call', call_id: 'c' },
    ]);
    expect(outputOf(answer(text, asked))[0]).toEqual({
      id: `rs_${id}_0`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: packDetails([{ type: 'reasoning.text', text: 'Hm.' }]),
    });
  });
});

function outputOf(response: JsonObject | undefined): JsonObject[] {
  return response?.['output'] as JsonObject[];
}

describe('whatever a model says', () => {
  const pieces = fc.array(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 4 });
  const some = fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  const said = fc.record({
    reasoning: pieces,
    signature: fc.option(fc.string({ minLength: 1, maxLength: 4 })),
    text: pieces,
    refusal: pieces,
    calls: fc.array(fc.record({ name: fc.string({ minLength: 1, maxLength: 4 }), pieces: some }), {
      maxLength: 3,
    }),
    finish: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
    summary: fc.boolean(),
  });

  it('its events add up to the answer in one piece, and OpenAI’s client takes them', async () => {
    await fc.assert(
      fc.asyncProperty(said, async ({ reasoning, signature, text, refusal, calls, finish, summary }) => {
        const request = { input: 'hi', ...(summary && { reasoning: { summary: 'auto' } }) };
        const detail = (piece: string): JsonObject => ({ type: 'reasoning.text', text: piece });
        const signed: JsonObject[] = signature === null ? [] : [{ type: 'reasoning.text', signature }];
        const events = streamOf(request, [
          ...reasoning.map((piece) => chunk({ reasoning_details: [detail(piece)] })),
          ...signed.map((one) => chunk({ reasoning_details: [one] })),
          ...text.map((content) => chunk({ content })),
          ...refusal.map((piece) => chunk({ refusal: piece })),
          ...calls.flatMap(({ name, pieces: args }, index) => [
            chunk({ tool_calls: [{ index, id: `c${index}`, function: { name, arguments: '' } }] }),
            ...args.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
          ]),
          chunk({}, finish),
        ]);
        const thought = { ...(reasoning.length > 0 && detail(reasoning.join(''))), ...signed[0] };
        const message = {
          content: text.join(''),
          refusal: refusal.join('') || null,
          ...(reasoning.length + signed.length > 0 && { reasoning_details: [thought] }),
          tool_calls: calls.map(({ name, pieces: args }, index) => ({
            id: `c${index}`,
            function: { name, arguments: args.join('') },
          })),
        };
        const inner = {
          choices: [{ message, finish_reason: finish }],
          usage: {
            prompt_tokens: 12,
            completion_tokens: 8,
            prompt_tokens_details: { cached_tokens: 4 },
            completion_tokens_details: { reasoning_tokens: 3 },
          },
        };
        const data = dataOf(events);
        expect(data.at(-1)?.['response']).toEqual(answerOf(inner, { ...given, request }));
        const output = outputOf(data.at(-1)?.['response'] as JsonObject);
        expect(built(data)).toEqual({ output, contradictions: [] });
        const read = ResponseStream.fromReadableStream(
          new Blob(data.map((event) => `${JSON.stringify(event)}\n`)).stream(),
        );
        expect((await read.finalResponse()).output).toHaveLength(output.length);
      }),
      { numRuns: 150 },
    );
  });
});

/** An item or a part as a client builds it. */
type Growing = Record<string, unknown> & { content?: Growing[]; summary?: Growing[] };

interface Built {
  readonly output: unknown[];
  /** Events that do not fit what came before. */
  readonly contradictions: JsonObject[];
}

/** The text that pieces of each kind add to, and the member in which their last event repeats it. */
const GROWS: Readonly<Record<string, 'text' | 'refusal' | 'arguments'>> = {
  'response.output_text': 'text',
  'response.reasoning_text': 'text',
  'response.reasoning_summary_text': 'text',
  'response.refusal': 'refusal',
  'response.function_call_arguments': 'arguments',
};
const PARTS: ReadonlySet<string> = new Set(['response.content_part', 'response.reasoning_summary_part']);

/** Builds the output from the events, as a client does. */
function built(events: readonly JsonObject[]): Built {
  const output: Growing[] = [];
  const contradictions: JsonObject[] = [];
  for (const [number, event] of events.entries()) {
    if (event['sequence_number'] !== number || !fits(event, output)) contradictions.push(event);
  }
  return { output, contradictions };
}

/** Takes one event. Returns whether it fits. */
function fits(event: JsonObject, output: Growing[]): boolean {
  const [, kind = '', step = ''] = /^(.*)\.(added|delta|done|[a-z_]+)$/.exec(event['type'] as string) ?? [];
  const at = event['output_index'] as number;
  if (kind === 'response.output_item' && step === 'added')
    return output.push(structuredClone(event['item']) as Growing) === at + 1;
  const item = output[at] ?? {};
  if (kind === 'response.output_item') {
    const { status: _status, encrypted_content: _sealed, ...done } = event['item'] as JsonObject;
    const { status: _open, content = [], ...now } = item;
    output[at] = event['item'] as Growing;
    return equal(done, content.length > 0 || 'content' in done ? { ...now, content } : now);
  }
  const of = event['summary_index'] as number | undefined;
  item.content ??= [];
  const parts = of === undefined ? item.content : (item.summary ?? []);
  const index = of ?? (event['content_index'] as number);
  if (PARTS.has(kind) && step === 'added')
    return parts.push(structuredClone(event['part']) as Growing) === index + 1;
  if (PARTS.has(kind)) return equal(event['part'], parts[index]);
  const member = GROWS[kind];
  if (member === undefined) return /^(created|in_progress|completed|incomplete)$/.test(step);
  const grown = (member === 'arguments' ? item : parts[index]) ?? {};
  if (step === 'done') return event[member] === grown[member];
  grown[member] = (grown[member] as string) + (event['delta'] as string);
  return true;
}

function equal(one: unknown, other: unknown): boolean {
  return canonicalize(one as JsonValue) === canonicalize(other as JsonValue);
}
