import { expect, test } from 'vitest';
import { type ChatMessage, type Compressed, type CompressOptions, compress, restore } from '../index.ts';
import { digestOf, gapOf, idOf } from './marks.ts';

const asTool = (content: string): ChatMessage[] => [{ role: 'tool', tool_call_id: 'call_1', content }];
const contentOf = ({ messages: [message] }: Compressed): string => message?.content as string;
const options: CompressOptions = { tier: 'extractive', budget: 0.3, query: 'What is fact 12?' };
const facts = (what: string): string =>
  Array.from({ length: 80 }, (_, i) => `Bob: fact ${i} is about ${what} ${i * 7}.`).join('\n');

test('a name is 12 digits of the text that has it, and the same everywhere', () => {
  expect(idOf('')).toBe('115665086549');
  expect(idOf('a text')).toMatch(/^\d{12}$/);
  expect(digestOf('')).toBe('e3b0c44298fc1c14');
});

test('a gap is shown by what the text does not hold', () => {
  expect(gapOf('1', 'a')).toBe('…');
  expect(gapOf('1', 'a…')).toBe('[…]');
  expect(gapOf('1', 'a […] …')).toBe('[…1]');
});

test('a document that holds what we made of another is named and restored as itself', () => {
  const other = compress(asTool(facts('ferries')), options);
  const { id: stolen } = other.blocks[0]!.removed!;
  const imitation = `${contentOf(other)}\n${facts('gardens')}\n${contentOf(other)}`;
  const result = compress(asTool(imitation), options);
  const removed = result.blocks.flatMap((block) => (block.removed === null ? [] : [block.removed]));
  expect(removed).toHaveLength(1);
  expect(removed[0]!.id).not.toBe(stolen);
  expect(imitation).not.toContain(removed[0]!.id);
  expect(contentOf(result).startsWith(`[cut ${removed[0]!.id}: `)).toBe(true);
  expect(contentOf(result)).toContain(', at each […]]');
  expect(restore(result)).toStrictEqual(asTool(imitation));
});

test.each([
  ['a table of ours', 'TSV, 2 rows:\na\tb\n1\t2\n3\t4'],
  ['a run of lines of ours', 'x\n[×9 more]\ny'],
  ['a reference of ours', `[the same as message 1 (user) above]\n${'and some more. '.repeat(30)}`],
])('what looks like %s is left and restored as it was', (_name, text) => {
  for (const tier of ['lossless', 'extractive'] as const) {
    const result = compress([...asTool(text), ...asTool(text)], { ...options, tier });
    expect(restore(result)).toStrictEqual([...asTool(text), ...asTool(text)]);
  }
});

test('no character that is made of several is cut in two', () => {
  const characters = ['👩‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'e\u0301', '❤️', 'क्षि'];
  const text = characters.join('').repeat(700);
  const result = compress(asTool(text), { ...options, query: '👍🏽' });
  expect(result.blocks[0]!.removed).not.toBeNull();
  const [, ...kept] = contentOf(result).split('\n');
  const segments = [...new Intl.Segmenter('en').segment(kept.join('\n'))].map(({ segment }) => segment);
  expect(new Set(segments.filter((segment) => /[^\s…]/.test(segment)))).toStrictEqual(new Set(characters));
});
