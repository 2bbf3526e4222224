import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversation } from '../../test/documents.ts';
import { type ChatMessage, type Compressed, compress, type Selection } from '../index.ts';

const text = Array.from({ length: 80 }, (_, i) => `Bob: fact ${i} is about subject ${i * 7}.`).join('\n');
const messages: ChatMessage[] = [{ role: 'tool', tool_call_id: 'call_1', content: text }];
const first = compress(messages, { tier: 'extractive', budget: 0.3, query: 'fact 12' });
const { selection } = first.blocks[0]!.removed!;

/** What a later call makes of the block, with room for all of it. */
const later = (remembered: unknown, given = messages): Compressed =>
  compress(given, {
    tier: 'extractive',
    budget: 0.99999,
    query: 'fact 70',
    remembered: () => remembered as Selection,
  });

const contentOf = ({ messages: [message] }: Compressed): unknown => message?.content;

test('a selection that went through JSON gives the same bytes', () => {
  expect(contentOf(later(JSON.parse(JSON.stringify(selection))))).toBe(contentOf(first));
});

test('a selection holds no text', () => {
  expect(JSON.stringify(selection)).not.toContain('fact');
});

test.each<[string, unknown]>([
  ['of another version', { ...selection, version: 0 }],
  ['of another form', { ...selection, form: 'prose' }],
  ['of fewer units', { ...selection, runs: selection.runs.slice(0, -1) }],
  ['with runs that are no numbers', { ...selection, runs: ['80'] }],
  ['with a negative run', { ...selection, runs: [81, -1] }],
  ['with more runs than units', { ...selection, runs: Array.from({ length: 1000 }, () => 0) }],
  ['without runs', { ...selection, runs: null }],
  ['of which the bytes are others', { ...selection, runs: [40, 40] }],
  ['with another digest', { ...selection, digest: '0123456789abcdef' }],
  ['that says it keeps all, and did not', { ...selection, runs: [80] }],
])('a selection %s is not trusted', (_name, wrong) => {
  expect(contentOf(later(wrong))).not.toBe(contentOf(first));
  expect(contentOf(later(wrong))).toBe(contentOf(later(undefined)));
});

test('a selection of another block is not trusted', () => {
  const other = [{ ...messages[0]!, content: text.replaceAll('fact', 'tale') }];
  expect(contentOf(later(selection, other))).toBe(contentOf(later(undefined, other)));
});

test('what was cut for a caller who could retrieve it stays cut where only repetition is cut anew', () => {
  const kept = compress(messages, {
    tier: 'extractive',
    budget: 0.3,
    recoverable: true,
    remembered: () => selection,
  });
  expect(contentOf(kept)).toBe(contentOf(first));
});

describe('across the calls of a session', () => {
  test('what was sent stays as it was, whatever is asked later', () => {
    fc.assert(
      fc.property(
        fc.array(conversation, { minLength: 2, maxLength: 4 }),
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        fc.boolean(),
        (turns, budget, recoverable) => {
          const memory = new Map<string, string>();
          const session: ChatMessage[] = [];
          let sent: readonly ChatMessage[] = [];
          for (const [i, turn] of turns.entries()) {
            // A breakpoint further on would freeze what was not frozen: the caller moved it.
            session.push(...turn.map((message) => ({ ...message, cache_control: null })));
            const { messages: now, selections } = compress(session, {
              tier: 'extractive',
              budget,
              recoverable,
              query: `gate ${i}`,
              remembered: (id) => {
                const found = memory.get(id);
                return found === undefined ? undefined : JSON.parse(found);
              },
            });
            expect(now.slice(0, sent.length)).toStrictEqual(sent);
            for (const { id, selection: own } of selections) memory.set(id, JSON.stringify(own));
            sent = now;
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('recoverable', () => {
  const lines = Array.from(
    { length: 30 },
    (_, i) => `Line ${i} of the report says that shelf ${i * 13} is empty.`,
  );
  const repeated = [...lines, 'And again, from the same report.', ...lines.slice(3, 25), 'The end.'].join(
    '\n',
  );
  const asked = { tier: 'extractive', budget: 0.3, query: 'shelf', recoverable: true } as const;
  const result = compress([{ role: 'tool', content: repeated }], asked);

  test('cuts what stands in the block before, and says which', () => {
    const content = String(contentOf(result));
    for (const line of [...lines.filter((_, i) => i !== 3), 'The end.'])
      expect(content.split(line)).toHaveLength(2);
    expect(content).toContain('"Line 3 of the report says that shelf 39 is empty." and the 21');
    expect(result.blocks[0]?.removed).toMatchObject({ removed: 22 });
  });

  test('names each repeated line, where they come in another order', () => {
    const long = lines.map((line) => `${line} ${'Nothing has been put on it since the spring. '.repeat(3)}`);
    const again = [7, 3, 21].map((i) => `${long[i]}`);
    const [block] = compress(
      [{ role: 'tool', content: [...long, ...again, 'The end.'].join('\n') }],
      asked,
    ).blocks;
    for (const line of again) expect(block?.text.split(line.slice(0, 30))).toHaveLength(3);
    expect(block?.removed?.gaps).toEqual(again.map((line, at) => ({ first: 31 + at, units: [`${line}\n`] })));
  });

  test('leaves alone what stands there once', () => {
    const once = [{ role: 'tool', content: lines.join('\n') }];
    expect(compress(once, asked).messages).toStrictEqual(once);
  });
});
