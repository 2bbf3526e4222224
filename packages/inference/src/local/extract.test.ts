import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerable, unanswerable, unseen } from '../../../server/test/extract-cases.ts';
import type { Message } from './conversation.ts';
import { type Extract, extract } from './extract.ts';
import type { ExtractRequest } from './request.ts';
import { loadTokenizer } from './tokens.ts';

const tokenizer = await loadTokenizer();

function ask(messages: readonly Message[], options: Partial<ExtractRequest> = {}): Extract {
  const usual = { maxTokens: 1_024, stop: [], choices: 1, json: false, stream: false };
  return extract({ messages, ...usual, ...options }, tokenizer);
}

const user = (text: string): Message => ({ role: 'user', text });

const article = `Otters are making a comeback in the River Tarn. Surveys by the Tarn Trust counted 46 otters last winter, up from 9 a decade ago. Cleaner water is the main reason: two tanneries closed and a treatment plant opened in 2015. Otters eat mostly eels and crayfish. Anglers fear for the trout. The Trust says that otters take fewer trout than herons do. It plans to build resting places for otters at six bridges, where most otters that die are hit by cars. A local café sells otter biscuits. The work on the bridges will cost 80,000 euros and begins in May.`;

describe('answers', () => {
  it.each(answerable)('$name', ({ messages, wants, spares }) => {
    const { text, sentences } = ask(messages);
    expect(text).toContain(wants);
    expect(text.includes(spares ?? text + text)).toBe(false);
    expect(sentences.length).toBeLessThanOrEqual(4);
  });

  it.each(unanswerable)('nothing: $name', ({ messages }) => {
    const { text, sentences } = ask(messages);
    expect(sentences).toEqual([]);
    expect(text).toContain('only quotes sentences of the text it is given');
  });

  it('is right on most of what the rules were not written for', () => {
    const right = unseen.filter(({ messages, wants }) => {
      const { text, sentences } = ask(messages);
      return wants === null ? sentences.length === 0 : text.includes(wants);
    });
    expect(right.length).toBeGreaterThanOrEqual(Math.ceil(unseen.length * 0.85));
  });

  it('does not answer from its own saying that it found nothing', () => {
    const first = ask([user('What model quotes sentences?')]);
    const again = ask([
      user('Hi'),
      { role: 'assistant', text: first.text },
      user('Which model only quotes sentences?'),
    ]);
    expect(again.sentences).toEqual([]);
  });
});

describe('summaries', () => {
  it('has the main sentences of a text', () => {
    const { text, sentences } = ask([user(`Summarise this article in three sentences.\n\n${article}`)]);
    expect(sentences).toHaveLength(3);
    expect(text).toContain('Otters are making a comeback in the River Tarn.');
    expect(text).not.toContain('biscuits');
    expect(text).not.toContain('Summarise');
  });

  it('summarises text that comes without a question', () => {
    const { sentences } = ask([user(article)]);
    expect(sentences.length).toBeGreaterThanOrEqual(1);
    expect(sentences.length).toBeLessThanOrEqual(5);
  });

  it('summarises what was said before', () => {
    const { text } = ask([
      user(article),
      { role: 'assistant', text: 'I see.' },
      user('Give me a one sentence summary.'),
    ]);
    expect(text).toBe('Otters are making a comeback in the River Tarn.');
  });

  it('keeps to what the summary is to be about', () => {
    const { text } = ask([user(`${article}\n\nSummarise in one sentence what it says about trout.`)]);
    expect(text).toContain('trout');
  });

  it('does not say one thing twice', () => {
    const twice =
      'The dam leaks at gate four. Gate four of the dam leaks badly. The dam leaks, at gate four. Fish ladders reopen in June.';
    const { text } = ask([user(`Summarise in two sentences.\n\n${twice}`)]);
    expect(text).toContain('Fish ladders');
  });

  it('makes bullets', () => {
    const { text } = ask([user(`List two bullet points that summarise this:\n\n${article}`)]);
    expect(text).toMatch(/^- [^\n]+\n- [^\n]+$/);
  });

  it.each([
    [
      'zh',
      '请总结下面的内容。\n\n青岩桥建于1952年。青岩桥是县里最长的桥。桥边有一家茶馆。每天有两万辆车通过青岩桥。',
    ],
    [
      'de',
      'Bitte fasse den Text zusammen:\n\nDie Bücherei öffnet um neun. Die Bücherei hat viele Bücher aus der Region. Es gibt Kaffee.',
    ],
  ])('in %s', (_, prompt) => {
    const { sentences } = ask([user(prompt)]);
    expect(sentences.length).toBeGreaterThan(0);
    expect(prompt.slice(10)).toContain(sentences[0]);
  });
});

describe('limits', () => {
  const long = [user(`Summarise in five sentences.\n\n${article}`)];

  it.each([1, 2, 7, 30])('never has more than %i tokens', (maxTokens) => {
    const { text, finish } = ask(long, { maxTokens });
    expect(tokenizer.count(text)).toBeLessThanOrEqual(maxTokens);
    expect(finish).toBe('length');
    expect(ask(long).text.startsWith(text)).toBe(true);
  });

  it('ends before a stop sequence', () => {
    const whole = ask(long);
    const { text, finish } = ask(long, { stop: ['zebra', ' comeback'] });
    expect(text).toBe(whole.text.slice(0, whole.text.indexOf(' comeback')));
    expect(finish).toBe('stop');
  });

  it('gives JSON that fits', () => {
    for (const maxTokens of [60, 90, 120, 1_024]) {
      const { text, sentences, finish } = ask(long, { json: true, maxTokens });
      expect(finish).toBe('stop');
      const parsed = JSON.parse(text) as { answer: string; sentences: string[] };
      expect(sentences).toEqual(expect.arrayContaining(parsed.sentences));
      expect(parsed.answer).toBe(parsed.sentences.join(' '));
    }
  });

  it('gives JSON where it found nothing', () => {
    const parsed = JSON.parse(ask([user('What is the capital of Peru?')], { json: true }).text) as object;
    expect(parsed).toMatchObject({ answer: null, sentences: [] });
  });
});

describe('whatever the conversation', () => {
  const words =
    'otter bridge cost who when 46 Ann euros the was it. by? 2015. 桥 建于。 ```\n - Dr. <|endoftext|> 𠮷 summarise'.split(
      ' ',
    );
  const text = fc.oneof(
    fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((list) => list.join(' ')),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
  const role = fc.constantFrom<Message['role'][]>('system', 'user', 'assistant', 'tool');
  const conversation = fc.array(fc.record({ role, text }), { maxLength: 5 });

  it('quotes to the letter, always the same, within the limit', () => {
    fc.assert(
      fc.property(
        conversation,
        fc.integer({ min: 1, max: 60 }),
        fc.boolean(),
        (messages, maxTokens, json) => {
          const answer = ask(messages, { maxTokens, json });
          for (const sentence of answer.sentences)
            expect(messages.some((message) => message.text.includes(sentence))).toBe(true);
          expect(answer).toEqual(ask(messages, { maxTokens, json }));
          expect(tokenizer.count(answer.text)).toBeLessThanOrEqual(maxTokens);
        },
      ),
      { numRuns: 300 },
    );
  });

  // Each takes about a second; a quarter of an hour where time grows as the square.
  it.each(['a', '? ', '. ', '"', '1.', 'A. ', '汉', '\n- '])(
    'comes to an end for a megabyte of %j',
    (unit) => {
      const messages = [user(`${unit.repeat(1_000_000 / unit.length)}\n\nWho is the number when?`)];
      expect(tokenizer.count(ask(messages).text)).toBeLessThanOrEqual(1_024);
    },
  );
});
