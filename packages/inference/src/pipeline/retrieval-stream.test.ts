import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import type { StreamChunk } from '../providers/provider.ts';
import type { Retrieval } from './retrieval.ts';
import { retrieveStream } from './retrieval-stream.ts';
import { StreamBudget } from './stream-limit.ts';

it('delivers the caller’s call beside one to svc_retrieve, where a provider gives them one index', async () => {
  const retrieval = {
    model: { tokenizer: 'estimate' },
    budget: () => new StreamBudget('acme', 1_000_000),
    mayGoOn: true,
    spent: [],
    last: null,
  } as unknown as Retrieval;
  async function* chunks(): AsyncGenerator<StreamChunk> {
    for (const [id, name] of [
      ['call_1', 'svc_retrieve'],
      ['call_2', 'weather'],
    ]) {
      const call = {
        index: 0,
        id: id ?? '',
        type: 'function',
        function: { name: name ?? '', arguments: '{}' },
      };
      const json: JsonObject = {
        id: 'c',
        created: 1,
        choices: [{ index: 0, delta: { tool_calls: [call] } }],
      };
      yield { text: JSON.stringify(json), json };
    }
  }
  const delivered: JsonObject[] = [];
  for await (const { json } of retrieveStream(retrieval, chunks())) delivered.push(json);
  expect(delivered).toMatchObject([
    {
      choices: [
        { delta: { tool_calls: [{ id: 'call_2', function: { name: 'weather', arguments: '{}' } }] } },
      ],
    },
  ]);
});
