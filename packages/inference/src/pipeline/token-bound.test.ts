import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { promptOf } from './token-bound.ts';

const asking = (...parts: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content: parts }] });
const text = { type: 'text', text: 'hi' };

const withTools = (...types: string[]): JsonObject => ({
  ...asking(text),
  tools: types.map((type) => ({ type, name: 'f' })),
});

it.each<[string, boolean, JsonObject]>([
  ['a text', false, asking(text)],
  ['an image', false, asking(text, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } })],
  ['a function', false, { ...asking(text), tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['a tool of text', false, { ...asking(text), tools: [{ type: 'custom', custom: { name: 'f' } }] }],
  ['an editor at the caller', false, withTools('text_editor_20250728')],
  ['a search for tools at the caller', false, withTools('tool_search')],
  ['a file', true, asking(text, { type: 'file', file: { file_data: 'data:application/pdf;base64,' } })],
  ['speech', true, asking({ type: 'input_audio', input_audio: {} })],
  ['a block of another API', true, asking({ type: 'search_result', content: [text] })],
  ['a search', true, { ...asking(text), web_search_options: {} }],
  ['a server of tools', true, { ...asking(text), mcp_servers: [{ type: 'url', name: 'a' }] }],
  ['a tool of the provider', true, withTools('web_search_20250305')],
  ['a search for tools at the provider', true, withTools('tool_search_tool_regex_20251119')],
  ['a set of tools whose definitions nobody has counted', true, withTools('computer_toolset_20260801')],
  ['a tool that is not known', true, withTools('computer_of_tomorrow')],
])('%s may fill the context: %s', (_, isUnbounded, body) => {
  expect(promptOf(body).isUnbounded).toBe(isUnbounded);
});

it.each<[string, number, JsonObject]>([
  ['a function', 1, withTools('function')],
  ['tools that the caller runs', 1, withTools('bash_20250124', 'memory_20250818', 'computer_20251124')],
  ['a file', 1, asking(text, { type: 'file', file: { file_data: 'data:application/pdf;base64,' } })],
  ['a search at OpenAI', 1, withTools('web_search', 'web_search_2025_08_26')],
  ['a search at Anthropic', 10, withTools('bash_20250124', 'web_search_20260318')],
  ['a search for tools at Anthropic', 10, withTools('tool_search_tool_bm25')],
  ['the tools of a server', 10, withTools('mcp_toolset')],
  ['a server of tools', 10, { ...asking(text), mcp_servers: [{ type: 'url', name: 'a' }] }],
])('with %s the prompt is read up to %i times', (_, turns, body) => {
  expect(promptOf(body).turns ?? 1).toBe(turns);
});

it.each<[string, number, JsonObject]>([
  ['no tools', 0, asking(text)],
  ['functions', 600, withTools('function', 'function')],
  ['a schema', 600, { ...asking(text), response_format: { type: 'json_schema' } }],
  ['two tools that it defines', 3_600, withTools('function', 'bash_20250124', 'text_editor_20250728')],
])('for %s a provider adds at most %i tokens', (_, added, body) => {
  expect(promptOf(body).addedTokens ?? 0).toBe(added);
});
