import { expect, it, vi } from 'vitest';
import type { Conversations, SentMessages } from './conversations.ts';
import type { RequestTier } from './options.ts';
import { type Conversation, UncutNotes } from './uncut-notes.ts';

const MESSAGES = [{ role: 'user', content: 'Which containers are degraded?' }];

const conversation = (tier: RequestTier): Conversation => ({
  account: 'a',
  session: null,
  body: { messages: MESSAGES },
  messages: MESSAGES,
  sent: 0,
  options: { tier, budget: null, retrieve: false, forGood: false, code: false, toolless: false },
});

/** The first reading waits until it is released, as on a busy database. */
function slowAtFirst(): { conversations: Conversations; release: () => void; stored: SentMessages[] } {
  const stored: SentMessages[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let readings = 0;
  const conversations = {
    async recall() {
      const sent = stored.at(-1) ?? null;
      if (readings++ === 0) await promise;
      return { sent, blocks: new Map() };
    },
    async remember(_account: string, _name: string, sent: { now: SentMessages }) {
      stored.push(sent.now);
      return new Map();
    },
  } as unknown as Conversations;
  return { conversations, release: resolve, stored };
}

it('writes what two calls say of one conversation in the order of the calls', async () => {
  const { conversations, release, stored } = slowAtFirst();
  const notes = new UncutNotes(conversations, { warn: expect.unreachable });
  notes.note(conversation('off'));
  notes.note(conversation('lossless'));
  const ready = vi.fn<() => void>();
  const written = notes.written(conversation('lossless')).finally(ready);
  // Whatever does not wait for the first reading is done by the next turn of the event loop.
  await new Promise(setImmediate);
  expect(ready).not.toHaveBeenCalled();
  expect(stored).toEqual([]);
  release();
  await written;
  expect(stored.map(({ plain }) => plain)).toEqual([Number.MAX_SAFE_INTEGER, 0]);
});

it('has nothing to wait for where nothing was noted', async () => {
  const { conversations } = slowAtFirst();
  const notes = new UncutNotes(conversations, { warn: expect.unreachable });
  await expect(notes.written(conversation('off'))).resolves.toBeUndefined();
});
