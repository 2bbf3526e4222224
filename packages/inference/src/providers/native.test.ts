import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { responses } from '../protocols/responses/responses.ts';
import { nativeAnswer } from './native.ts';

it.each(['', 'event: chunk\n'])(
  'names each event by its type, where the provider writes %j',
  async (line) => {
    const { native: form } = responses;
    if (form === null) throw new Error('No provider speaks it.');
    const response = { id: 'resp_1', created_at: 1, model: 'm', status: 'completed', output: [] };
    const sent: JsonObject[] = [
      { type: 'response.created', response },
      { type: 'response.output_text.delta', output_index: 0, delta: 'Hi.' },
      { type: 'response.completed', response },
    ];
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(sent.map((event) => `${line}data: ${JSON.stringify(event)}\n\n`).join(''));
    }
    const reply = { status: 200, header: () => undefined, bytes: bytes(), close: () => undefined };
    const answer = await nativeAnswer({ name: 'p', failure: () => new Error() }, { form }, reply, true);
    if (answer.kind !== 'stream') throw new Error('No stream.');
    const names: (string | null)[] = [];
    for await (const { native = [] } of answer.chunks) names.push(...native.map(({ event }) => event));
    expect(names).toEqual(sent.map(({ type }) => type));
  },
);

it.each([
  ['half of a surrogate pair', String.raw`"\ud83d"`],
  ['an integer past 2^53', '9007199254740993'],
  ['a name twice', '{"a":1,"a":2}'],
])('an event with %s ends the stream, since no receipt of it would verify', async (_, value) => {
  const { native: form } = responses;
  if (form === null) throw new Error('No provider speaks it.');
  const events = [
    '{"type":"response.created","response":{"id":"resp_1","created_at":1,"model":"m","output":[]}}',
    '{"type":"response.output_text.delta","output_index":0,"delta":"Hi."}',
    `{"type":"response.output_text.delta","output_index":0,"delta":"Hi.","more":${value}}`,
  ];
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(events.map((event) => `data: ${event}\n\n`).join(''));
  }
  const reply = { status: 200, header: () => undefined, bytes: bytes(), close: () => undefined };
  const answer = await nativeAnswer({ name: 'p', failure: () => new Error() }, { form }, reply, true);
  if (answer.kind !== 'stream') throw new Error('No stream.');
  const passed: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const { native = [] } of answer.chunks) passed.push(...native);
  };
  await expect(read()).rejects.toMatchObject({ kind: 'bad_answer' });
  expect(passed).toHaveLength(2);
});
