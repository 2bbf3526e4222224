import type { JsonObject } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incident, pretty, rows, toolTurn } from '../../../server/test/compressible.ts';
import { type CachePrice, isNoDearer } from './cache-gate.ts';
import { compressTask } from './compress-task.ts';
import { FITTED, type SentMessages, sentNow } from './conversations.ts';
import { sentBefore } from './messages.ts';
import type { RequestTier } from './options.ts';
import type { CompressionResult, CompressionTask } from './task.ts';
import { CompressionThread } from './thread.ts';

const UNTOUCHED: SentMessages = { plain: 0, switches: [], fitted: 0 };
/** Reading costs a tenth. */
const TENTH: CachePrice = { inputPerMTok: 1_000n, cacheReadPerMTok: 100n, exact: true };

const task = (messages: JsonObject[], change: Partial<CompressionTask> = {}): CompressionTask => ({
  messages,
  tier: 'lossless',
  budget: null,
  retrieve: true,
  mustFit: false,
  query: null,
  encoding: 'o200k_base',
  account: 'caller:a',
  cachePrice: null,
  form: change.tier === 'extractive' ? FITTED : UNTOUCHED,
  sent: sentBefore(messages),
  notes: new Map(),
  binding: false,
  ...change,
});

const applied = (messages: readonly JsonObject[], { changed }: CompressionResult): JsonObject[] => {
  const replaced = new Map(changed);
  return messages.map((message, index) => replaced.get(index) ?? message);
};

const table = pretty(rows(40));

describe('compressing a conversation', () => {
  it('accounts for each message, and leaves what went out before as it was told', () => {
    const messages = [
      { role: 'user', content: 'Which?' },
      ...toolTurn('a', table),
      ...toolTurn('b', pretty(rows(40, 9))),
    ];
    const all = compressTask(task(messages));
    expect(all.changed.map(([index]) => index)).toEqual([2, 4]);
    const saved = all.before.map((tokens, index) => tokens - (all.after[index] ?? 0));
    expect(saved.reduce((a, b) => a + b)).toBe(all.tokensBefore - all.tokensAfter);
    expect(saved.map((tokens) => tokens > 0)).toEqual([false, false, true, false, true]);
    const later = compressTask(task(messages, { form: { ...UNTOUCHED, plain: 3 } }));
    expect(later.changed.map(([index]) => index)).toEqual([4]);
    expect(later.changed[0]).toEqual(all.changed[1]);
  });

  it('holds back what could be dearer than the cache, from the beginning on', () => {
    const turns = Array.from({ length: 12 }, (_, i) => toolTurn(`c${i}`, pretty(rows(12, i * 20)))).flat();
    const messages = [{ role: 'user', content: 'Which?' }, ...turns];
    const held = compressTask(task(messages, { cachePrice: TENTH }));
    expect(held.spared).toBe(true);
    expect(held.changed.length).toBeGreaterThan(5);
    const all = compressTask(task(messages));
    expect(all.spared).toBe(false);
    expect(all.changed).toEqual(expect.arrayContaining([...held.changed]));
    for (let end = 1; end <= messages.length; end += 1) {
      const part = messages.slice(0, end);
      const now = compressTask(task(part, { cachePrice: TENTH }));
      expect(applied(part, now)).toEqual(applied(messages, held).slice(0, end));
      expect(isNoDearer(TENTH, now.tokensBefore - now.tokensAfter, now.tokensAfter)).toBe(true);
      expect(Object.values(now.methods).reduce((a, b) => a + b, 0)).toBe(now.tokensBefore - now.tokensAfter);
    }
    const fitted = compressTask(task(messages, { cachePrice: TENTH, form: { ...UNTOUCHED, fitted: 13 } }));
    expect(fitted.changed.slice(0, 6)).toEqual(all.changed.slice(0, 6));
  });

  it('cuts to no less than a cache begins at', () => {
    const messages = [
      { role: 'user', content: 'What of request 7919?' },
      ...toolTurn('a', incident(120, 'X')),
    ];
    const cut = { tier: 'extractive', budget: 0.1 } as const;
    expect(compressTask(task(messages, cut)).tokensAfter).toBeLessThan(500);
    const held = compressTask(task(messages, { ...cut, cachePrice: TENTH }));
    expect(held.tokensAfter).toBeGreaterThanOrEqual(1_024);
    expect(held.tokensAfter).toBeLessThan(1_100);
    const short = [{ role: 'user', content: 'What of request 7919?' }, ...toolTurn('a', incident(20, 'X'))];
    const untouched = compressTask(task(short, { ...cut, cachePrice: TENTH }));
    expect(untouched).toMatchObject({ changed: [], removed: [] });
  });

  it('gives back what was cut once that can no longer be asked for', () => {
    const messages = [
      { role: 'user', content: 'What of request 7919?' },
      ...toolTurn('a', incident(120, 'X')),
    ];
    const cut = compressTask(task(messages, { tier: 'extractive', budget: 0.3 }));
    const notes = new Map(cut.notes.map(({ key, value }) => [key, value]));
    const more = [...messages, { role: 'assistant', content: 'So.' }, { role: 'user', content: 'And?' }];
    const form = sentNow('lossless', sentNow('extractive', null, 1), 3);
    const kept = compressTask(task(more, { form, notes }));
    expect(applied(more, kept).slice(0, 3)).toEqual(applied(messages, cut));
    expect(kept).toMatchObject({ restored: false, removed: cut.removed });
    const restored = compressTask(task(more, { form, notes, retrieve: false }));
    expect(applied(more, restored)).toEqual(more);
    expect(restored).toMatchObject({ restored: true, removed: [] });
  });

  it('is the same in a thread', async () => {
    const thread = new CompressionThread(() => {});
    const wanted = task([{ role: 'user', content: 'Which?' }, ...toolTurn('a', incident(200, 'X'))], {
      tier: 'extractive',
      budget: 0.3,
    });
    const [one, two] = await Promise.all([thread.run(wanted), thread.run(wanted)]);
    expect(one).toEqual(compressTask(wanted));
    expect(two).toEqual(one);
    await thread.close();
    expect(await thread.run(wanted)).toEqual(one);
    await thread.close();
  });
});

const content = fc.oneof(
  fc.tuple(fc.nat(40), fc.nat(9)).map(([count, from]) => pretty(rows(count, from))),
  fc.integer({ min: 1, max: 120 }).map((count) => incident(count, 'S')),
  fc.constant('def f(x):\n    return x\n\nprint(f(1))\n'),
  fc.integer({ min: 1, max: 60 }).map((count) => 'It rained again in the harbour that day. '.repeat(count)),
);
const call = fc.record({
  texts: fc.array(content, { minLength: 1, maxLength: 2 }),
  tier: fc.constantFrom('lossless' as const, 'extractive' as const),
  budget: fc.constantFrom(null, 0.1, 0.4, 0.8),
});

interface Call {
  readonly texts: readonly string[];
  readonly tier: RequestTier;
  readonly budget: number | null;
}

/** A session as it goes through `work`, call by call. */
function* prompts(
  calls: readonly Call[],
  cachePrice: CachePrice | null,
): Generator<{ prompt: JsonObject[]; restored: boolean }> {
  const messages: JsonObject[] = [{ role: 'system', content: 'You watch.' }];
  const notes = new Map<string, string>();
  let before: SentMessages | null = null;
  for (const [index, { texts, tier, budget }] of calls.entries()) {
    const sent = sentBefore(messages);
    messages.push({ role: 'user', content: `Question ${index}: what of ${index * 7919}?` });
    for (const text of texts) messages.push(...toolTurn(`c${index}`, text));
    const form: SentMessages = sentNow(tier, before, sent);
    before = form;
    if (tier === 'off') yield { prompt: [...messages], restored: false };
    else {
      const one = task([...messages], { tier, budget, cachePrice, form, sent, notes });
      let result = compressTask(one);
      for (const { key, value, replaces } of result.notes)
        if (replaces === null || notes.get(key) === replaces) notes.set(key, value);
      if (result.notes.some(({ key, value }) => notes.get(key) !== value))
        result = compressTask({ ...one, notes, binding: true });
      yield { prompt: applied(messages, result), restored: result.restored };
    }
    messages.push({ role: 'assistant', content: 'So.' });
  }
}

describe('a session whose tiers go up and down', () => {
  it('sends each prompt as the beginning of the next, whatever is asked and whatever the budget', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 2, maxLength: 6 }),
        fc.nat(2),
        fc.constantFrom(null, TENTH),
        (calls, off, cachePrice) => {
          const session = calls.map((one, index) => ({
            ...one,
            tier: index < off ? ('off' as const) : one.tier,
          }));
          let prefix = '';
          for (const { prompt, restored } of prompts(session, cachePrice)) {
            expect(restored).toBe(false);
            const text = JSON.stringify(prompt).slice(0, -1);
            expect(text.startsWith(prefix)).toBe(true);
            prefix = text;
          }
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);
});
