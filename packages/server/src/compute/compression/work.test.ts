import type { JsonObject } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incident, pretty, rows, toolTurn } from '../../../test/compressible.ts';
import { ALL, type Sent, sentNow } from './conversations.ts';
import { sentBefore } from './messages.ts';
import type { RequestTier } from './options.ts';
import type { CompressionResult, CompressionTask } from './task.ts';
import { CompressionThread } from './thread.ts';
import { work } from './work.ts';

const task = (messages: JsonObject[], change: Partial<CompressionTask> = {}): CompressionTask => ({
  messages,
  tier: 'lossless',
  budget: null,
  retrieve: true,
  query: null,
  encoding: 'o200k_base',
  account: 'caller:a',
  cacheWorth: 0,
  plain: 0,
  whole: 0,
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
    const all = work(task(messages));
    expect(all.changed.map(([index]) => index)).toEqual([2, 4]);
    const saved = all.before.map((tokens, index) => tokens - (all.after[index] ?? 0));
    expect(saved.reduce((a, b) => a + b)).toBe(all.tokensBefore - all.tokensAfter);
    expect(saved.map((tokens) => tokens > 0)).toEqual([false, false, true, false, true]);
    const later = work(task(messages, { plain: 3 }));
    expect(later.changed.map(([index]) => index)).toEqual([4]);
    expect(later.changed[0]).toEqual(all.changed[1]);
  });

  it('keeps a prompt above the size at which a cache begins, from the beginning on', () => {
    const turns = Array.from({ length: 12 }, (_, i) => toolTurn(`c${i}`, pretty(rows(12, i * 20)))).flat();
    const messages = [{ role: 'user', content: 'Which?' }, ...turns];
    const kept = work(task(messages, { cacheWorth: 9_216 }));
    const first = kept.changed[0]?.[0] ?? 0;
    expect(kept.spared).toBe(true);
    expect(first).toBeGreaterThan(2);
    const upTo = kept.after.slice(0, first + 1).reduce((a, b) => a + b);
    expect(upTo).toBeGreaterThanOrEqual(1_024);
    for (let end = 1; end < messages.length; end += 1) {
      const part = messages.slice(0, end);
      expect(applied(part, work(task(part, { cacheWorth: 9_216 })))).toEqual(
        applied(messages, kept).slice(0, end),
      );
    }
    // Once so much is saved at once, it is worth more than any cache.
    expect(work(task(messages, { cacheWorth: 100 })).changed[0]?.[0]).toBe(2);
  });

  it('is the same in a thread', async () => {
    const thread = new CompressionThread(() => {});
    const wanted = task([{ role: 'user', content: 'Which?' }, ...toolTurn('a', incident(200, 'X'))], {
      tier: 'extractive',
      budget: 0.3,
    });
    const [one, two] = await Promise.all([thread.run(wanted), thread.run(wanted)]);
    expect(one).toEqual(work(wanted));
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
  tier: fc.constantFrom<RequestTier>('off', 'lossless', 'extractive'),
  budget: fc.constantFrom(null, 0.1, 0.4, 0.8),
});

describe('a session whose tiers go up', () => {
  it('sends each prompt as the beginning of the next, whatever is asked and whatever the budget', () => {
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 2, maxLength: 6 }),
        fc.constantFrom(0, 9_216),
        (calls, cacheWorth) => {
          const messages: JsonObject[] = [{ role: 'system', content: 'You watch.' }];
          const notes = new Map<string, string>();
          let before: Sent | null = null;
          let prefix = '';
          let most = 0;
          for (const [index, { texts, tier: wished, budget }] of calls.entries()) {
            messages.push({ role: 'user', content: `Question ${index}: what of ${index * 7919}?` });
            for (const text of texts) messages.push(...toolTurn(`c${index}`, text));
            const tiers = ['off', 'lossless', 'extractive'] as const;
            most = Math.max(most, tiers.indexOf(wished));
            const tier = tiers[most] ?? 'off';
            const now: Sent = sentNow(tier, before, sentBefore(messages.slice(0, -2 * texts.length)));
            const sent = sentBefore(messages.slice(0, -2 * texts.length));
            const one = task([...messages], {
              tier: tier === 'extractive' ? tier : 'lossless',
              budget,
              cacheWorth,
              sent,
              plain: now.plain,
              whole: tier === 'extractive' ? now.whole : ALL,
              notes,
            });
            let result: CompressionResult | null = tier === 'off' ? null : work(one);
            for (const { key, value, replaces } of result?.notes ?? [])
              if (replaces === null || notes.get(key) === replaces) notes.set(key, value);
            if (result?.notes.some(({ key, value }) => notes.get(key) !== value))
              result = work({ ...one, notes, binding: true });
            const text = JSON.stringify(result === null ? messages : applied(messages, result)).slice(0, -1);
            expect(text.startsWith(prefix)).toBe(true);
            prefix = text;
            before = now;
            messages.push({ role: 'assistant', content: 'So.' });
          }
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);
});
