import { tokenizerFor } from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { incident, pretty, rows, toolTurn } from '../../../server/test/compressible.ts';
import type { Layout } from '../pipeline/compressor-interface.ts';
import { savingOf } from '../savings.ts';
import { costOf, type TokenPrices } from '../token-prices.ts';
import type { Usage } from '../types.ts';
import { CACHE_MINIMUM, CACHE_STEP, type CachePrice, isNoDearer } from './cache-gate.ts';
import { cachePriceOf, cachesInSteps } from './cache-price.ts';
import { compressTask } from './compress-task.ts';
import { FITTED, type SentMessages, sentNow } from './conversations.ts';
import { sentBefore } from './messages.ts';
import type { RequestTier } from './options.ts';
import { tokensOf } from './result.ts';
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
  code: false,
  mustFit: false,
  forGood: false,
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

const functions = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `function berth${i}(boat) {\n  const place = harbour.find(boat, ${i});\n  return place;\n}\n`,
  ).join('\n');

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
    const turns = Array.from({ length: 12 }, (_, i) => toolTurn(`c${i}`, pretty(rows(20, i * 20)))).flat();
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

  it('judges together the results of one turn, which are sent together, and each later call sends them alike', () => {
    const results = Array.from({ length: 24 }, (_, i) => pretty(rows(2, i * 2)));
    const turns = results.flatMap((content, i) => toolTurn(`c${i}`, content));
    const calls = turns.flatMap(({ tool_calls: calls }) => (calls ?? []) as JsonObject[]);
    const question = { role: 'user', content: 'It rained again in the harbour that day. '.repeat(200) };
    const apart = [question, ...turns];
    const together = [
      question,
      { role: 'assistant', content: null, tool_calls: calls },
      ...turns.filter(({ role }) => role === 'tool'),
    ];
    const gate = { cachePrice: TENTH };
    expect(compressTask(task(apart, gate))).toMatchObject({ changed: [], spared: true });
    const now = compressTask(task(together, gate));
    expect(now.changed).toHaveLength(results.length);
    expect(now.spared).toBe(false);
    const later = [
      ...together,
      { role: 'assistant', content: 'So.' },
      { role: 'user', content: 'And?' },
      ...toolTurn('d', pretty(rows(2, 99))),
    ];
    const then = compressTask(task(later, gate));
    expect(applied(later, then).slice(0, together.length)).toEqual(applied(together, now));
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

  it('cuts equal texts in the same way, which a later call repeats', () => {
    const messages = [
      { role: 'user', content: 'What of 0?' },
      ...toolTurn('a', functions(16)),
      ...toolTurn('b', functions(16)),
    ];
    const cut = compressTask(task(messages, { tier: 'extractive', budget: 0.8, code: true }));
    const sent = applied(messages, cut);
    expect(sent[2]?.['content']).toBe(sent[4]?.['content']);
    expect(cut.changed.map(([index]) => index)).toEqual([2, 4]);
    const notes = new Map(cut.notes.map(({ key, value }) => [key, value]));
    const more = [...messages, { role: 'assistant', content: 'So.' }, { role: 'user', content: 'And?' }];
    const form = sentNow('lossless', sentNow('extractive', null, 1), 5);
    expect(applied(more, compressTask(task(more, { form, notes }))).slice(0, 5)).toEqual(sent);
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
  fc.integer({ min: 2, max: 30 }).map((count) => functions(count)),
  fc.integer({ min: 1, max: 60 }).map((count) => 'It rained again in the harbour that day. '.repeat(count)),
);
/** What a caller allows in each call of its session, so that nothing that was cut has to be sent whole again. */
const allowances = [
  ['retrieve', 'for good'],
  ['for good', 'repeats'],
] as const;

const session = fc.constantFrom(...allowances).chain((allowed) =>
  fc.array(
    fc
      .record({
        texts: fc.array(content, { minLength: 1, maxLength: 2 }),
        tier: fc.constantFrom('lossless' as const, 'extractive' as const),
        budget: fc.constantFrom(null, 0.1, 0.4, 0.8),
        allowed: fc.constantFrom(...allowed),
        code: fc.boolean(),
      })
      .map((call) => ({
        ...call,
        // Only a budget allows cutting for good.
        budget: call.budget ?? (call.allowed === 'for good' ? 0.2 : null),
        // A lossless call without the tool withdraws it.
        tier: call.allowed === 'for good' && allowed[0] === 'retrieve' ? 'extractive' : call.tier,
      })),
    { minLength: 2, maxLength: 6 },
  ),
);

interface Call {
  readonly texts: readonly string[];
  readonly tier: RequestTier;
  readonly budget: number | null;
  readonly allowed: 'retrieve' | 'for good' | 'repeats';
  readonly code: boolean;
}

interface Sent extends Layout {
  readonly raw: readonly JsonObject[];
  readonly prompt: readonly JsonObject[];
}

/** A session as it goes through `work`, call by call. */
function* prompts(calls: readonly Call[], cachePrice: CachePrice | null): Generator<Sent> {
  const messages: JsonObject[] = [{ role: 'system', content: 'You watch.' }];
  const notes = new Map<string, string>();
  let before: SentMessages | null = null;
  for (const [index, { texts, tier, budget, allowed, code }] of calls.entries()) {
    const sent = sentBefore(messages);
    messages.push({ role: 'user', content: `Question ${index}: what of ${index * 7919}?` });
    for (const text of texts) messages.push(...toolTurn(`c${index}`, text));
    const form: SentMessages = sentNow(tier, before, sent);
    before = form;
    const raw = [...messages];
    const forGood = allowed === 'for good' && tier === 'extractive';
    const options = { tier: tier === 'off' ? 'lossless' : tier, retrieve: allowed === 'retrieve', forGood };
    const one = task(raw, { ...options, budget, code, cachePrice, form, sent, notes });
    let result = compressTask(one);
    if (tier !== 'off') {
      for (const { key, value, replaces } of result.notes)
        if (replaces === null || notes.get(key) === replaces) notes.set(key, value);
      if (result.notes.some(({ key, value }) => notes.get(key) !== value))
        result = compressTask({ ...one, notes, binding: true });
    }
    const prompt = tier === 'off' ? raw : applied(raw, result);
    const after = tier === 'off' ? result.before : result.after;
    yield { raw, prompt, before: result.before, after, sent, changed: result.restored };
    messages.push({ role: 'assistant', content: 'So.' });
  }
}

const offAtFirst = (calls: readonly Call[], off: number): Call[] =>
  calls.map((one, index) => ({ ...one, tier: index < off ? ('off' as const) : one.tier }));

/** What a provider charges for each prompt of a session, if it caches every prompt and reads what it has of one in steps. */
function providerOf(price: TokenPrices): (prompt: readonly JsonObject[]) => Usage {
  const tokenizer = tokenizerFor('gpt-5');
  const steps = cachesInSteps(price) ? { minimum: CACHE_MINIMUM, step: CACHE_STEP } : { minimum: 0, step: 1 };
  const kept: { readonly text: string; readonly tokens: number }[] = [];
  return (prompt) => {
    const text = JSON.stringify(prompt).slice(0, -1);
    const tokens = prompt.reduce((sum, message) => sum + 4 + tokensOf(message, tokenizer), 0);
    const held = kept.findLast((one) => text.startsWith(one.text))?.tokens ?? 0;
    kept.push({ text, tokens });
    const cached = held < steps.minimum ? 0 : Math.floor(held / steps.step) * steps.step;
    const written = cachesInSteps(price) ? {} : { cacheWriteTokens: tokens - cached };
    return { promptTokens: tokens, completionTokens: 20, cachedTokens: cached, ...written, estimated: false };
  };
}

const priced = (input: bigint, read: bigint, write = input): TokenPrices => ({
  inputPerMTok: input,
  cacheReadPerMTok: read,
  cacheWritePerMTok: write,
  outputPerMTok: 4_000n,
});

describe('a session whose tiers go up and down', () => {
  it('sends each prompt as the beginning of the next, whatever is asked and whatever the budget', () => {
    fc.assert(
      fc.property(session, fc.nat(2), fc.constantFrom(null, TENTH), (calls, off, cachePrice) => {
        let prefix = '';
        for (const { prompt, changed } of prompts(offAtFirst(calls, off), cachePrice)) {
          expect(changed).toBe(false);
          const text = JSON.stringify(prompt).slice(0, -1);
          expect(text.startsWith(prefix)).toBe(true);
          prefix = text;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('costs no more than uncompressed, wherever it ends, even if nothing of the saving were returned', () => {
    let saved = 0n;
    const prices = [
      priced(1_000n, 100n),
      priced(1_000n, 250n),
      priced(1_000n, 500n),
      priced(1_000n, 1_000n),
      priced(1_000n, 100n, 1_250n),
    ];
    fc.assert(
      fc.property(
        session,
        fc.nat(2),
        fc.constantFrom(...prices),
        fc.boolean(),
        (calls, off, price, twice) => {
          const [plain, shorter] = [providerOf(price), providerOf(price)];
          let left = 0n;
          for (const { raw, prompt, ...layout } of prompts(
            offAtFirst(calls, off),
            cachePriceOf([{ price, tokenizer: 'o200k' }], 'o200k_base'),
          ))
            for (let call = 0; call <= Number(twice); call += 1) {
              const usage = shorter(prompt);
              const { gross, lostCache: lost } = savingOf(price, usage, layout, true);
              const cost = costOf(price, usage);
              const whole = costOf(price, plain(raw));
              saved += whole - cost;
              left += whole - cost - (gross > lost ? gross - lost : 0n);
              expect(left).toBeGreaterThanOrEqual(0n);
            }
        },
      ),
      { numRuns: 200 },
    );
    expect(saved).toBeGreaterThan(0n);
  });
});
