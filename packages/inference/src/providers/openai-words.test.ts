import { expect, it } from 'vitest';
import { inWordsOf } from './openai-words.ts';

const body = { model: 'm', messages: [], max_completion_tokens: 9 };
const stream = { ...body, stream: true, stream_options: { include_obfuscation: false } };
const asked = { include_obfuscation: false, include_usage: true };

it.each([
  ['https://api.openai.com/v1', { max_completion_tokens: 9, stream_options: asked }],
  ['https://eu.deepseek.com.example.org', { max_completion_tokens: 9, stream_options: asked }],
  ['https://api.deepseek.com', { max_tokens: 9, stream_options: asked }],
  ['https://api.mistral.ai/v1', { max_tokens: 9 }],
])('%s is asked by %j', (url, words) => {
  expect(inWordsOf(url, stream)).toEqual({ model: 'm', messages: [], stream: true, ...words });
});

it('leaves a call in one piece as it is, but for the name of its limit', () => {
  const older = { model: 'm', messages: [], max_tokens: 9, stream_options: {} };
  expect(inWordsOf('https://api.openai.com/v1', older)).toEqual(older);
  expect(inWordsOf('https://api.mistral.ai/v1', { ...older, max_completion_tokens: 5 })).toEqual({
    ...older,
    max_tokens: 5,
  });
});
