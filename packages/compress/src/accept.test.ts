import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { conversation } from '../test/documents.ts';
import { compress, type Tier, tokenizerFor } from './index.ts';

const tokenizer = tokenizerFor();
const tier = fc.constantFrom<Tier>('lossless', 'extractive');

test('what is not accepted goes out as it came, and the account knows', () => {
  fc.assert(
    fc.property(conversation, tier, fc.func(fc.boolean()), (messages, tier, wanted) => {
      let asked: [number, number][] = [];
      const accept = (savings: ReadonlyMap<number, number>): ReadonlySet<number> => {
        asked = [...savings];
        return new Set([...savings.keys()].filter((message) => wanted(message)));
      };
      const all = compress(messages, { tier, tokenizer });
      const some = compress(messages, { tier, tokenizer, accept });
      const changed = messages.flatMap((message, i) => (all.messages[i] === message ? [] : [i]));
      expect(asked.map(([message]) => message)).toEqual(changed);
      for (const [i, message] of messages.entries())
        expect(some.messages[i]).toStrictEqual(changed.includes(i) && wanted(i) ? all.messages[i] : message);
      const accepted = asked.reduce((sum, [message, saved]) => sum + (wanted(message) ? saved : 0), 0);
      const { tokens_before: before, tokens_after: after, methods } = some.account;
      expect(before - after).toBe(accepted);
      expect(Object.values(methods).reduce((sum, own) => sum + own, 0)).toBe(accepted);
      expect(some.selections).toStrictEqual(all.selections);
      const left = some.blocks.filter(({ message }) => !wanted(message));
      expect(left.filter(({ steps, removed }) => steps.length > 0 || removed !== null)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test('what is remembered as whole is not cut', () => {
  const lines = Array.from({ length: 80 }, (_, i) => `Bob: fact ${i} is about subject ${i * 7}.`).join('\n');
  const messages = ['x', 'y'].map((from) => ({ role: 'user', content: `${from}\n\n${lines}` }));
  const asked: number[] = [];
  const { messages: out } = compress(messages, {
    tier: 'extractive',
    budget: 0.3,
    remembered: (_id, message) => {
      asked.push(message);
      return message === 0 ? 'whole' : undefined;
    },
  });
  expect(new Set(asked)).toEqual(new Set([0, 1]));
  expect(out[0]).toEqual(messages[0]);
  expect(out[1]).not.toEqual(messages[1]);
});
