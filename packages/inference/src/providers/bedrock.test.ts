import type { JsonObject } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { completionOf } from './bedrock-answer.ts';
import { converseRequest } from './bedrock-request.ts';

const claude = 'global.anthropic.claude-sonnet-4-5-20250929-v1:0';
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const tool = {
  type: 'function',
  function: { name: 'weather', description: 'Tells it.', parameters: schema },
};
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"place":"Zürich"}' } };
const user = { role: 'user', content: 'hi' };
const mark = { cache_control: { type: 'ephemeral' } };
const point = { cachePoint: { type: 'default' } };

const conversation: JsonObject = {
  messages: [
    {
      role: 'system',
      content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?', ...mark },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'file', file: { filename: 'my_plan/2.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' },
        { type: 'reasoning.encrypted', data: 'b3BhcXVl' },
        { type: 'reasoning.encrypted', data: 'of-gemini', format: 'google-gemini-v1' },
        { type: 'reasoning.encrypted', data: 'of-openai', id: 'rs_1' },
        { type: 'reasoning.summary', summary: 'unsigned' },
      ],
      tool_calls: [call, { ...call, id: 'c2' }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'rain', ...mark },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'no place' }], is_error: true },
    { role: 'developer', content: 'In German.' },
    { role: 'user', content: 'So?' },
  ],
  tools: [{ ...tool, ...mark }],
  tool_choice: 'required',
  stop: 'END',
  max_completion_tokens: 9,
  temperature: 0.5,
  top_k: 3,
  stream: true,
};

describe('a request to Bedrock', () => {
  it('holds the same conversation', () => {
    const input = { place: 'Zürich' };
    expect(converseRequest(claude, conversation)).toStrictEqual({
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }, { text: 'In German.' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What is it?' },
            point,
            { image: { format: 'png', source: { bytes: 'aGk=' } } },
            { document: { format: 'pdf', source: { bytes: 'aGk=' }, name: 'my plan 2' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: 'b3BhcXVl' } },
            { toolUse: { toolUseId: 'c1', name: 'weather', input } },
            { toolUse: { toolUseId: 'c2', name: 'weather', input } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'c1', content: [{ text: 'rain' }] } },
            point,
            { toolResult: { toolUseId: 'c2', content: [{ text: 'no place' }], status: 'error' } },
            { text: 'So?' },
          ],
        },
      ],
      toolConfig: {
        tools: [
          { toolSpec: { name: 'weather', description: 'Tells it.', inputSchema: { json: schema } } },
          point,
        ],
        toolChoice: { any: {} },
      },
      inferenceConfig: { maxTokens: 9, temperature: 0.5, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 3 },
    });
  });

  const tools = [tool];
  const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
  const structure = { jsonSchema: { schema: JSON.stringify(schema), name: 'x' } };
  it.each<[string, JsonObject, JsonObject]>([
    [claude, { tools, tool_choice: 'auto' }, { toolConfig: { toolChoice: { auto: {} } } }],
    [
      claude,
      { tools, tool_choice: { type: 'function', function: { name: 'weather' } } },
      { toolConfig: { toolChoice: { tool: { name: 'weather' } } } },
    ],
    [
      claude,
      { response_format: format },
      { outputConfig: { textFormat: { type: 'json_schema', structure } } },
    ],
    [
      claude,
      { response_format: { type: 'json_object' } },
      { system: [{ text: expect.stringMatching(/JSON/) as string }] },
    ],
    [
      claude,
      { reasoning: { max_tokens: 2_000 } },
      { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2_000 } } },
    ],
    [
      claude,
      { reasoning: { enabled: true } },
      { additionalModelRequestFields: { thinking: { type: 'adaptive' } } },
    ],
    [
      claude,
      { reasoning: { enabled: false } },
      { additionalModelRequestFields: { thinking: { type: 'disabled' } } },
    ],
    [
      'openai.gpt-oss-120b-1:0',
      { reasoning_effort: 'low' },
      { additionalModelRequestFields: { reasoning_effort: 'low' } },
    ],
    [
      'us.amazon.nova-2-lite-v1:0',
      { reasoning: { effort: 'low' } },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } } },
    ],
  ])('for %s translates %j', (model, members, expected) => {
    expect(converseRequest(model, { messages: [user], ...members })).toMatchObject(expected);
  });

  it('has no tools where none may be called', () => {
    const request = converseRequest(claude, { messages: [user], tools, tool_choice: 'none', user: 'u' });
    expect(request).toStrictEqual({ messages: [{ role: 'user', content: [{ text: 'hi' }] }] });
  });

  const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };
  const tiff = { type: 'image_url', image_url: { url: 'data:image/tiff;base64,aGk=' } };
  it.each<[string, JsonObject]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 50: 1 } }],
    ['reasoning_effort', { reasoning_effort: 'low' }],
    ['reasoning', { reasoning: { max_tokens: 9 } }],
    ['tools', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['tool_choice', { tools, tool_choice: { type: 'allowed_tools', allowed_tools: {} } }],
    [
      'tool_choice',
      { tools, tool_choice: 'none', messages: [user, { role: 'assistant', tool_calls: [call] }] },
    ],
    ['response_format', { response_format: { type: 'json_schema', json_schema: {} } }],
    ['messages', { messages: [{ role: 'user', content: [image] }] }],
    ['messages', { messages: [{ role: 'user', content: [tiff] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }],
    ['messages', { messages: [{ role: 'function', name: 'x', content: 'y' }] }],
  ])('is refused for %s that has no counterpart', (param, members) => {
    const refused: unknown = expect.objectContaining({
      kind: 'refused',
      status: 400,
      error: expect.objectContaining({ param, code: 'unsupported_parameter' }) as unknown,
    });
    expect(() => converseRequest('amazon.nova-pro-v1:0', { messages: [user], ...members })).toThrow(refused);
  });
});

describe('an answer of Bedrock', () => {
  const answer = (stopReason: string, usage: JsonObject = {}): JsonObject => ({
    output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
    stopReason,
    usage: { inputTokens: 10, outputTokens: 5, ...usage },
  });

  it.each([
    ['end_turn', { finish_reason: 'stop' }],
    ['stop_sequence', { finish_reason: 'stop' }],
    ['max_tokens', { finish_reason: 'length' }],
    ['model_context_window_exceeded', { finish_reason: 'length' }],
    [
      'guardrail_intervened',
      { finish_reason: 'content_filter', native_finish_reason: 'guardrail_intervened' },
    ],
    ['content_filtered', { finish_reason: 'content_filter', native_finish_reason: 'content_filtered' }],
  ])('that ends by %s says so', (reason, choice) => {
    expect(completionOf(answer(reason), 'm', 0).body['choices']).toMatchObject([choice]);
  });

  it('counts the tokens of the cache among those of the prompt', () => {
    const cache = { cacheReadInputTokens: 100, cacheWriteInputTokens: 30 };
    expect(completionOf(answer('end_turn', cache), 'm', 0).usage).toStrictEqual({
      promptTokens: 140,
      completionTokens: 5,
      cachedTokens: 100,
      cacheWriteTokens: 30,
      estimated: false,
    });
  });

  it('shows reasoning that is encrypted', () => {
    const content = [{ reasoningContent: { redactedContent: 'b3BhcXVl' } }, { text: 'Hi' }];
    const { body, usage } = completionOf({ ...answer('end_turn'), output: { message: { content } } }, 'm', 0);
    expect(body['choices']).toMatchObject([
      { message: { content: 'Hi', reasoning_details: [{ type: 'reasoning.encrypted', data: 'b3BhcXVl' }] } },
    ]);
    expect(usage).toMatchObject({ hidden: 'unknown' });
  });
});
