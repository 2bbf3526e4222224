import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import type { StreamChunk } from '../providers/provider.ts';
import type { Retrieval } from './retrieval.ts';
import { retrieveStream } from './retrieval-stream.ts';
import { StreamBudget } from './stream-limit.ts';

const retrievalOf = (): Retrieval =>
  ({
    model: { tokenizer: 'estimate' },
    budget: () => new StreamBudget('acme', 1_000_000),
    mayGoOn: true,
    spent: [],
    last: null,
  }) as unknown as Retrieval;

it('keeps the count of tokens that a later chunk does not repeat', async () => {
  const retrieval = retrievalOf();
  async function* chunks(): AsyncGenerator<StreamChunk> {
    const said: JsonObject[] = [
      { choices: [{ index: 0, delta: { content: 'Hi' } }] },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } },
      { choices: [], usage: {} },
    ];
    for (const json of said) yield { text: JSON.stringify(json), json };
  }
  const delivered: JsonObject[] = [];
  for await (const { json } of retrieveStream(retrieval, chunks())) delivered.push(json);
  expect(retrieval.last?.usage).toMatchObject({ promptTokens: 7, completionTokens: 2 });
  expect(delivered.at(-1)).toMatchObject({ usage: { prompt_tokens: 7 } });
});

it('delivers the caller’s call beside one to svc_retrieve, where a provider gives them one index', async () => {
  const retrieval = retrievalOf();
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
