import type { JsonObject } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { completionOf, GeminiStream } from './gemini-answer.ts';
import { geminiRequest } from './gemini-request.ts';

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const tool = {
  type: 'function',
  function: { name: 'weather', description: 'Tells it.', parameters: schema },
};
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"place":"Zürich"}' } };
const signed = { ...call, extra_content: { google: { thought_signature: 'c2ln' } } };
const user = { role: 'user', content: 'hi' };

const conversation: JsonObject = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
        { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'of another model', signature: 'x' },
        { type: 'reasoning.encrypted', data: 'dGV4dA==', format: 'google-gemini-v1' },
      ],
      tool_calls: [signed, { ...call, id: 'c2' }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'no place' }], is_error: true },
    { role: 'developer', content: 'In German.' },
    { role: 'user', content: 'So?' },
  ],
  tools: [tool],
  tool_choice: 'required',
  stop: 'END',
  max_completion_tokens: 9,
  temperature: 1.5,
  seed: 7,
  stream: true,
};

const args = { place: 'Zürich' };

describe('a request to Gemini', () => {
  it('holds the same conversation', () => {
    expect(geminiRequest('gemini-3-pro', conversation)).toStrictEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'In German.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is it?' },
            { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
            { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } },
            { inlineData: { mimeType: 'audio/wav', data: 'aGk=' } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'I look.', thoughtSignature: 'dGV4dA==' },
            { functionCall: { id: 'c1', name: 'weather', args }, thoughtSignature: 'c2ln' },
            { functionCall: { id: 'c2', name: 'weather', args } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'weather', response: { output: 'rain' } } },
            { functionResponse: { id: 'c2', name: 'weather', response: { error: 'no place' } } },
          ],
        },
        { role: 'user', parts: [{ text: 'So?' }] },
      ],
      tools: [
        {
          functionDeclarations: [{ name: 'weather', description: 'Tells it.', parametersJsonSchema: schema }],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: { maxOutputTokens: 9, stopSequences: ['END'], temperature: 1.5, seed: 7 },
    });
  });

  it('names no tool calls by ids to models before Gemini 3, and has a mark for calls of other models', () => {
    const messages = [user, { role: 'assistant', tool_calls: [call] }];
    const partOf = (model: string): unknown =>
      (geminiRequest(model, { messages })['contents'] as { parts: JsonObject[] }[])[1]?.parts[0];
    expect(partOf('gemini-2.5-flash')).toStrictEqual({ functionCall: { name: 'weather', args } });
    expect(partOf('gemini-3.5-flash')).toStrictEqual({
      functionCall: { id: 'c1', name: 'weather', args },
      thoughtSignature: 'skip_thought_signature_validator',
    });
  });

  const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
  it.each<[string, JsonObject, JsonObject]>([
    ['gemini-2.5-flash', { reasoning_effort: 'medium' }, { thinkingConfig: { thinkingBudget: 8_192 } }],
    ['gemini-2.5-flash', { reasoning_effort: 'none' }, { thinkingConfig: { thinkingBudget: 0 } }],
    [
      'gemini-2.5-pro',
      { reasoning: { max_tokens: 77 } },
      { thinkingConfig: { thinkingBudget: 77, includeThoughts: true } },
    ],
    [
      'gemini-3-pro',
      { reasoning: { effort: 'xhigh' } },
      { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
    ],
    [
      'gemini-3-pro',
      { reasoning: { enabled: false }, top_k: 3 },
      { thinkingConfig: { thinkingLevel: 'low' }, topK: 3 },
    ],
    ['gemini-2.5-pro', { reasoning: { enabled: false } }, { thinkingConfig: { thinkingBudget: 0 } }],
    ['gemini-2.5-pro', { reasoning: { enabled: true } }, { thinkingConfig: { includeThoughts: true } }],
    ['gemini-3-pro', { reasoning_effort: 'low' }, { thinkingConfig: { thinkingLevel: 'low' } }],
    ['gemini-3-pro', { response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }],
    [
      'gemini-3-pro',
      { response_format: format, stop: ['a', 'b'], max_tokens: null },
      { responseMimeType: 'application/json', responseJsonSchema: schema, stopSequences: ['a', 'b'] },
    ],
  ])('for %s has the settings of %j', (model, members, generationConfig) => {
    expect(geminiRequest(model, { messages: [user], ...members })).toMatchObject({ generationConfig });
  });

  it.each<[JsonObject, JsonObject]>([
    [{ tool_choice: 'none' }, { mode: 'NONE' }],
    [{ tool_choice: 'auto' }, { mode: 'AUTO' }],
    [
      { tool_choice: { type: 'function', function: { name: 'weather' } } },
      { mode: 'ANY', allowedFunctionNames: ['weather'] },
    ],
  ])('translates %j', (members, functionCallingConfig) => {
    expect(geminiRequest('m', { messages: [user], tools: [tool], ...members })).toMatchObject({
      toolConfig: { functionCallingConfig },
    });
  });

  const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };
  it.each<[string, JsonObject]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 50: 1 } }],
    ['reasoning_effort', { reasoning_effort: 'none' }],
    ['tools', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['tool_choice', { tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: {} } }],
    ['response_format', { response_format: { type: 'json_schema', json_schema: {} } }],
    ['messages', { messages: [{ role: 'user', content: [image] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }],
    ['messages', { messages: [{ role: 'function', name: 'x', content: 'y' }] }],
    ['messages', { messages: [user, { role: 'tool', tool_call_id: 'c9', content: 'y' }] }],
  ])('is refused for %s that has no counterpart', (param, members) => {
    const refused: unknown = expect.objectContaining({
      kind: 'refused',
      status: 400,
      error: expect.objectContaining({ param, code: 'unsupported_parameter' }) as unknown,
    });
    expect(() => geminiRequest('gemini-3-pro', { messages: [user], ...members })).toThrow(refused);
  });
});

const answer = (candidate: JsonObject, rest: JsonObject = {}): JsonObject => ({
  responseId: 'r1',
  modelVersion: 'gemini-3-pro',
  candidates: [candidate],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 7,
    cachedContentTokenCount: 4,
  },
  ...rest,
});
const choiceOf = (response: JsonObject): JsonObject | undefined =>
  (completionOf('up', response, 0).body['choices'] as JsonObject[])[0];

describe('an answer of Gemini', () => {
  const parts = [
    { text: 'Hm.', thought: true },
    { text: 'Rain', thoughtSignature: 'c2ln' },
    { functionCall: { name: 'weather', args }, thoughtSignature: 'Y2FsbA==' },
  ];
  const reasoning = {
    reasoning_details: [
      { type: 'reasoning.summary', summary: 'Hm.', format: 'google-gemini-v1' },
      { type: 'reasoning.encrypted', data: 'c2ln', format: 'google-gemini-v1' },
    ],
  };
  const toolCall = {
    id: expect.stringMatching(/^call_/) as string,
    function: { name: 'weather', arguments: JSON.stringify(args) },
    extra_content: { google: { thought_signature: 'Y2FsbA==' } },
  };

  it('shows text, thoughts, calls and their signatures, and counts thoughts apart', () => {
    const { body, usage } = completionOf('up', answer({ content: { parts }, finishReason: 'STOP' }), 0);
    expect(body['choices']).toMatchObject([
      { finish_reason: 'tool_calls', message: { content: 'Rain', ...reasoning, tool_calls: [toolCall] } },
    ]);
    expect(usage).toStrictEqual({
      promptTokens: 10,
      completionTokens: 12,
      cachedTokens: 4,
      hidden: 7,
      estimated: false,
    });
    expect(body['usage']).toMatchObject({ completion_tokens_details: { reasoning_tokens: 7 } });
  });

  it('streams the same', () => {
    const stream = new GeminiStream('up', 0);
    const chunks = [
      ...parts.flatMap((part) => stream.take(answer({ content: { parts: [part] } }))),
      ...stream.take(answer({ finishReason: 'STOP' })),
      ...stream.end(),
    ];
    const deltas = chunks.flatMap(({ choices }) => (choices as JsonObject[]).map(({ delta }) => delta));
    expect(deltas).toMatchObject([
      { role: 'assistant' },
      { reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.' }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'c2ln' }] },
      { content: 'Rain' },
      { tool_calls: [{ index: 0, ...toolCall }] },
      {},
    ]);
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
    expect(chunks.at(-1)).toMatchObject({ usage: { completion_tokens: 12 } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['too long', answer({ finishReason: 'MAX_TOKENS' }), { finish_reason: 'length' }],
    [
      'unsafe',
      answer({ finishReason: 'SAFETY' }),
      { finish_reason: 'content_filter', native_finish_reason: 'SAFETY' },
    ],
    [
      'to a prompt that is blocked',
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } },
      { finish_reason: 'content_filter', native_finish_reason: 'PROHIBITED_CONTENT' },
    ],
  ])('that is %s says so', (_, response, choice) => {
    expect(choiceOf(response)).toMatchObject(choice);
    expect(choiceOf(response)).toHaveProperty('message.content', '');
  });

  it.each<[string, JsonObject]>([
    ['without an end', answer({ content: { parts } })],
    ['with an image', answer({ content: { parts: [{ inlineData: {} }] }, finishReason: 'STOP' })],
    ['that is empty', {}],
  ])('%s is none', (_, response) => {
    expect(() => completionOf('up', response, 0)).toThrow(expect.objectContaining({ kind: 'bad_answer' }));
  });
});
