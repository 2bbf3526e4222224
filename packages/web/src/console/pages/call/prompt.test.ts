import { expect, test } from 'vitest';
import { pairsOf, promptIn } from './prompt.ts';

test.each([
  [{ messages: [{ role: 'user', content: 'a' }] }, [['user', 'a']]],
  [
    { system: 'be brief', messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
    [
      ['system', 'be brief'],
      ['user', 'a'],
    ],
  ],
  [
    { instructions: 'b', input: [{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }] },
    [
      ['system', 'b'],
      ['user', 'a'],
    ],
  ],
  [
    { input: ['a', 'b'] },
    [
      ['user', 'a'],
      ['user', 'b'],
    ],
  ],
  [{ prompt: 'a' }, [['user', 'a']]],
  [
    { messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] },
    [['tool', 'x\n{\n  "tool_call_id": "c"\n}']],
  ],
  [
    {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:${'A'.repeat(500)}` } }] },
      ],
    },
    [['user', `{"type":"image_url","image_url":{"url":"data:${'A'.repeat(35)}…"}}`]],
  ],
  [null, []],
  ['text', []],
])('reads the prompt of %j', (body, said) => {
  expect(promptIn(body).map(({ role, text }) => [role, text])).toEqual(said);
});

test('pairs message by message, or the whole where messages were added', () => {
  const [user, tool] = [
    { role: 'user', text: 'a' },
    { role: 'tool', text: 'b' },
  ];
  expect(pairsOf([user, tool], [user, tool])).toEqual([
    [user, user],
    [tool, tool],
  ]);
  expect(pairsOf([user], [user, tool])).toEqual([
    [
      { role: 'all', text: 'user:\na' },
      { role: 'all', text: 'user:\na\n\ntool:\nb' },
    ],
  ]);
});
