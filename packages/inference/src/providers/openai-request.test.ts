import { describe, expect, it } from 'vitest';
import { openaiRequest } from './openai-request.ts';

const MARK = { type: 'ephemeral' };
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
const USER = { role: 'user', content: 'a' };

describe('an inner request in OpenAI’s own words', () => {
  it('has no member that its servers do not know', () => {
    const body = {
      model: 'm',
      top_k: 5,
      cache_control: MARK,
      output_config: { effort: 'high' },
      reasoning: { max_tokens: 2048 },
      temperature: 1,
      user: 'u'.repeat(65),
      tools: [
        { type: 'function', function: { name: 'f' }, cache_control: MARK, input_examples: [{}] },
        { type: 'web_search', cache_control: MARK },
      ],
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's', cache_control: MARK }] },
        { ...USER, cache_control: MARK },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [{ type: 'reasoning.text', text: 't' }],
          reasoning_content: 't',
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              cache_control: MARK,
              extra_content: {},
            },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'c',
          is_error: true,
          content: [
            { type: 'text', text: 'x' },
            { type: 'text', text: 'y' },
          ],
        },
      ],
    };
    expect(openaiRequest(body, false)).toEqual({
      model: 'm',
      temperature: 1,
      tools: [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }],
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's' }] },
        USER,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'x\ny' },
      ],
    });
  });

  it('has the images of tool results after the last of these', () => {
    const result = (id: string) => ({
      role: 'tool',
      tool_call_id: id,
      content: [{ type: 'text', text: id }, IMAGE],
    });
    expect(openaiRequest({ messages: [result('a'), result('b'), USER] }, false)['messages']).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'a' },
      { role: 'tool', tool_call_id: 'b', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of the tool call a:' },
          IMAGE,
          { type: 'text', text: 'From the result of the tool call b:' },
          IMAGE,
        ],
      },
      USER,
    ]);
  });

  it.each([
    [{ reasoning: { effort: 'low' } }, true, 'low'],
    [{ reasoning: { effort: 'max' } }, true, 'high'],
    [{ reasoning_effort: 'minimal' }, true, 'minimal'],
    [{ reasoning: { enabled: true } }, true, undefined],
    [{ reasoning_effort: 'low' }, false, undefined],
  ])('of %j with a model that reasons (%s) asks for the effort %s', (asked, reasons, effort) => {
    expect(openaiRequest({ messages: [USER], ...asked }, reasons)['reasoning_effort']).toBe(effort);
  });
});
