import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { KeptAnswer } from './kept-answer.ts';

it('tells tool calls apart by their ids, where a provider gives them one index', () => {
  const kept = new KeptAnswer();
  const add = (call: JsonObject): void =>
    kept.add({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] });
  add({ id: 'call_1', function: { name: 'weather', arguments: '{"a"' } });
  add({ id: '', function: { arguments: ':1}' } });
  add({ id: 'call_2', function: { name: 'time', arguments: '{}' } });
  expect(kept.completion('acme/one')).toMatchObject({
    choices: [
      {
        message: {
          tool_calls: [
            { id: 'call_1', function: { name: 'weather', arguments: '{"a":1}' } },
            { id: 'call_2', function: { name: 'time', arguments: '{}' } },
          ],
        },
      },
    ],
  });
});
