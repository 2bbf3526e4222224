import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { promptOf } from './token-bound.ts';

const asking = (...parts: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content: parts }] });
const text = { type: 'text', text: 'hi' };

it.each<[string, boolean, JsonObject]>([
  ['a text', false, asking(text)],
  ['an image', false, asking(text, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } })],
  ['a function', false, { ...asking(text), tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['a tool of text', false, { ...asking(text), tools: [{ type: 'custom', custom: { name: 'f' } }] }],
  ['an editor at the caller', false, { ...asking(text), tools: [{ type: 'text_editor_20250728' }] }],
  ['a file', true, asking(text, { type: 'file', file: { file_data: 'data:application/pdf;base64,' } })],
  ['speech', true, asking({ type: 'input_audio', input_audio: {} })],
  ['a block of another API', true, asking({ type: 'search_result', content: [text] })],
  ['a search', true, { ...asking(text), web_search_options: {} }],
  ['a server of tools', true, { ...asking(text), mcp_servers: [{ type: 'url', name: 'a' }] }],
  ['a tool of the provider', true, { ...asking(text), tools: [{ type: 'web_search_20250305' }] }],
])('%s may fill the context: %s', (_, isUnbounded, body) => {
  expect(promptOf(body).isUnbounded).toBe(isUnbounded);
});
