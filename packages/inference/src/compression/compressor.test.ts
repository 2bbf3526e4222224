import type { JsonObject } from '@tallystick/core';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createCatalogue } from '../catalogue/catalogue.ts';
import type { CompressionStore, Note } from '../compression-store.ts';
import { createCompressor } from './compressor.ts';
import type { RequestTier } from './options.ts';

const rows = (from: number): string =>
  JSON.stringify(
    Array.from({ length: 60 }, (_, row) => ({
      id: from + row,
      name: `container-${from + row}`,
      state: 'ok',
    })),
    null,
    2,
  );
const FIRST: JsonObject[] = [
  { role: 'user', content: 'Which containers are degraded?' },
  { role: 'assistant', content: 'I look.' },
  { role: 'user', content: rows(0) },
];
const MORE = [...FIRST, { role: 'assistant', content: 'None.' }, { role: 'user', content: rows(60) }];

const asked = (tier: RequestTier, messages: readonly JsonObject[]) => ({
  account: 'a',
  session: null,
  body: { messages: [...messages] },
  options: { tier, budget: null, retrieve: false, forGood: false, code: false, toolless: false },
});

/** A store of one conversation, whose first reading waits until it is released. */
function slowStore() {
  const notes = new Map<string, string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const store = {
    readings: 0,
    release: resolve,
    async recall() {
      store.readings += 1;
      if (store.readings === 1) await promise;
      return new Map(notes);
    },
    async remember(_account: string, _conversation: string, written: readonly Note[]) {
      for (const { key, value, replaces } of written)
        if ((notes.get(key) ?? null) === replaces) notes.set(key, value);
      return new Map(notes);
    },
    purge: async () => 0,
  } satisfies CompressionStore & { readings: number; release: () => void };
  return store;
}

it('a call waits for the note of the call before, and leaves as it was what went out uncut', async () => {
  const store = slowStore();
  const compressor = createCompressor({
    store,
    catalogue: () => createCatalogue([]),
    metrics: { compressed: () => undefined },
    clock: () => 0,
    logger: pino({ level: 'silent' }),
  });
  await compressor.compress(asked('off', FIRST));
  const second = compressor.compress(asked('lossless', MORE));
  // Whatever does not wait has read by the next turn of the event loop.
  await new Promise(setImmediate);
  expect(store.readings).toBe(1);
  store.release();
  const { body, note } = await second;
  const sent = body['messages'] as JsonObject[];
  expect(note).toBeNull();
  expect(sent.slice(0, FIRST.length)).toEqual(FIRST);
  expect(JSON.stringify(sent.at(-1)).length).toBeLessThan(rows(60).length / 2);
  await compressor.close();
});
