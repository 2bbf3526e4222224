import { existsSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anyDocument,
  code,
  conversation,
  dialogue,
  diff,
  fenced,
  log,
  prose,
  schema,
} from '../test/documents.ts';
import { type ChatMessage, type Compressed, compress, restore, type Tier, tokenizerFor } from './index.ts';

const tokenizer = tokenizerFor();
const tier = fc.constantFrom<Tier>('lossless', 'extractive');
const budget = fc.oneof(fc.double({ min: 0.01, max: 0.99, noNaN: true }), fc.integer({ min: 1, max: 2000 }));
const options = fc.record({ tier, budget, query: fc.constantFrom('', 'When did the gate fail?', '日本') });

/** The one text of a message whose content is a string. */
const contentOf = ({ messages }: Compressed, at = 0): string => messages[at]!.content as string;
const asTool = (content: string): ChatMessage[] => [{ role: 'tool', tool_call_id: 'call_1', content }];

describe('of any conversation', () => {
  test('nothing comes out longer, and the account adds up', () => {
    fc.assert(
      fc.property(conversation, options, (messages, given) => {
        const { account, messages: out } = compress(messages, given);
        expect(account.tokens_after).toBeLessThanOrEqual(account.tokens_before);
        const saved = Object.values(account.methods).reduce((sum, own) => sum + own, 0);
        expect(saved).toBe(account.tokens_before - account.tokens_after);
        expect(compress(out).account.tokens_before).toBe(account.tokens_after);
      }),
      { numRuns: 300 },
    );
  });

  test('system and assistant turns, and all up to a cache breakpoint, are the same bytes', () => {
    fc.assert(
      fc.property(conversation, options, (messages, given) => {
        const { messages: out } = compress(messages, given);
        expect(out).toHaveLength(messages.length);
        const breakpoint = messages.findLastIndex(({ cache_control: mark }) => mark !== undefined);
        for (const [i, message] of messages.entries()) {
          const frozen = i <= breakpoint || !['tool', 'user'].includes(message.role);
          expect(out[i]).toStrictEqual(frozen ? message : { ...message, content: out[i]!.content });
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the same arguments give the same result', () => {
    fc.assert(
      fc.property(conversation, options, (messages, given) => {
        expect(compress(structuredClone(messages), given)).toStrictEqual(compress(messages, given));
      }),
      { numRuns: 100 },
    );
  });

  test('losslessly, a longer conversation begins with the bytes of the shorter one', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, cut) => {
        const shorter = messages.slice(0, cut % (messages.length + 1));
        // A breakpoint further on would freeze what was not frozen: the caller moved it.
        fc.pre(messages.slice(shorter.length).every(({ cache_control: mark }) => mark === undefined));
        expect(compress(messages).messages.slice(0, shorter.length)).toStrictEqual(
          compress(shorter).messages,
        );
      }),
      { numRuns: 300 },
    );
  });

  test('restore gives back every text without JSON to the character', () => {
    fc.assert(
      fc.property(conversation, options, (messages, given) => {
        const result = compress(messages, given);
        const restored = restore(result);
        const json = new Set(
          result.blocks.filter(({ kind }) => kind.startsWith('json')).map(({ message }) => message),
        );
        const others = (all: readonly ChatMessage[]): ChatMessage[] => all.filter((_, i) => !json.has(i));
        expect(others(restored)).toStrictEqual(others(messages));
      }),
      { numRuns: 200 },
    );
  });
});

describe.each<Tier>(['lossless', 'extractive'])('%s: what is never touched', (tier) => {
  test.each([
    ['code', code],
    ['fenced code', fenced],
    ['a diff', diff],
    ['a schema', schema],
  ])('%s', (_name, document) => {
    fc.assert(
      fc.property(document, (text) => {
        const twice = [...asTool(text), ...asTool(text)];
        expect(compress(twice, { tier, budget: 0.05, query: 'gate' }).messages).toStrictEqual(twice);
      }),
      { numRuns: 50 },
    );
  });

  test('code inside other text', () => {
    fc.assert(
      fc.property(prose, fenced, prose, (before, kept, after) => {
        const result = compress(asTool(`${before}\n\n${kept}\n\n${after}`), {
          tier,
          budget: 0.1,
          query: 'gate',
        });
        expect(contentOf(result)).toContain(kept);
      }),
      { numRuns: 50 },
    );
  });
});

describe('code and prose in turn', () => {
  const body = (i: number): string =>
    `function part${i}(input) {\n  const own = input.filter((one) => one.weight > ${i});\n  return own.map((one) => one.name);\n}\n`;
  const snippet = (i: number): string => `\`\`\`js\n${body(i)}\`\`\``;
  const passage = (i: number): string =>
    `Part ${i} of the guide is about shelves. ${'The shelves are made of wood and stand along the wall of the hall. '.repeat(4)}`;
  const needle = 'The magic number of the kestrel is 5129384.';
  const guide = Array.from({ length: 40 }, (_, i) =>
    [passage(i), ...(i === 23 ? [needle] : []), ...(i % 5 === 0 ? [snippet(i)] : [])].join('\n\n'),
  ).join('\n\n');
  const asked = { tier: 'extractive', query: 'What is the magic number of the kestrel?' } as const;

  test('what is asked stays beside code that is never cut, within the budget and under one notice', () => {
    const result = compress(asTool(guide), { ...asked, budget: 0.2 });
    const text = contentOf(result);
    expect(text).toContain(needle);
    for (let i = 0; i < 40; i += 5) expect(text).toContain(snippet(i));
    expect(result.account.tokens_after).toBeLessThanOrEqual(result.account.tokens_before * 0.2);
    expect(text.match(/\[cut /g)).toHaveLength(1);
  });

  test('where code leaves no room, the rest is cut to its own share, and what is asked stays', () => {
    const result = compress(asTool(guide), { ...asked, budget: 0.05 });
    expect(contentOf(result)).toContain(needle);
    expect(result.account.tokens_after).toBeLessThan(result.account.tokens_before * 0.3);
  });

  test('with `code` it is cut by whole functions, which the notice names', () => {
    const file = Array.from({ length: 30 }, (_, i) => body(i)).join('\n');
    const result = compress(asTool(file), {
      tier: 'extractive',
      budget: 0.2,
      code: true,
      query: 'What does part17 do?',
    });
    const [notice, ...rest] = contentOf(result).split('\n');
    expect(notice).toMatch(/^\[cut \d{12}: .*; without part0, part1, .* and \d+ more\]$/);
    const functions = rest.join('\n').match(/function part\d+[^]*?\n}\n/g) ?? [];
    expect(functions).toContain(body(17));
    expect(functions.filter((own) => !file.includes(own))).toStrictEqual([]);
    expect(
      rest
        .join('\n')
        .replaceAll(/function part\d+[^]*?\n}\n|…|\n/g, '')
        .trim(),
    ).toBe('');
    expect(result.account.tokens_after).toBeLessThanOrEqual(result.account.tokens_before * 0.2);
  });
});

describe('cutting', () => {
  const long = fc.oneof(
    fc.array(dialogue, { minLength: 8, maxLength: 12 }).map((all) => all.join('\n')),
    fc.array(prose, { minLength: 8, maxLength: 12 }).map((all) => all.join('\n\n')),
    fc.array(log, { minLength: 8, maxLength: 12 }).map((all) => all.join('\n')),
  );

  test('keeps to the budget, whole units as they were, and says how much is gone', () => {
    fc.assert(
      fc.property(long, fc.constantFrom(0.5, 0.25, 0.1), (text, budget) => {
        const result = compress(asTool(text), {
          tier: 'extractive',
          budget,
          query: 'When did order 4711 fail?',
        });
        const { tokens_before: before, tokens_after: after } = result.account;
        fc.pre(before > 1000 && result.blocks.every(({ kind }) => kind !== 'code'));
        expect(after).toBeLessThanOrEqual(before * budget + 40 * result.blocks.length);
        const cut = result.blocks.filter(({ removed }) => removed !== null);
        expect(cut.length > 0 || after <= before * budget).toBe(true);
        for (const { text: left, original, removed, steps } of cut) {
          const [notice, ...rest] = left.trimStart().split('\n');
          expect(notice).toContain(`[cut ${removed!.id}: ${removed!.removed} of ${removed!.of} `);
          expect(original).not.toContain(removed!.id);
          if (steps.length > 1 || original.includes('…')) continue;
          const kept = rest.join('\n').split(/\s?…\s?/);
          expect(kept.filter((stretch) => !original.includes(stretch.trim()))).toStrictEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('a document that imitates a gap gets marks that it does not hold', () => {
    const lines = Array.from(
      { length: 60 },
      (_, i) => `Alice: something about number ${i} and the weather […12]`,
    );
    const result = compress(asTool(lines.join('\n')), {
      tier: 'extractive',
      budget: 0.3,
      query: 'number 30',
    });
    expect(contentOf(result)).toContain(`left out, at each […]]\n`);
    expect(contentOf(result)).toContain('\n[…]\n');
    const both = compress(asTool(`${lines.join('\n')} […]`), {
      tier: 'extractive',
      budget: 0.3,
      query: 'number 30',
    });
    expect(contentOf(both)).toContain(`\n[…${both.blocks[0]!.removed!.id}]\n`);
    expect(contentOf(result)).toContain('number 30 ');
  });

  test('a block that was cut once gets the same bytes again, whatever is asked then', () => {
    const text = Array.from({ length: 80 }, (_, i) => `Bob: fact ${i} is about subject ${i * 7}.`).join('\n');
    const first = compress(asTool(text), { tier: 'extractive', budget: 0.3, query: 'fact 12' });
    const { id, selection } = first.blocks[0]!.removed!;
    expect(first.selections).toStrictEqual([{ id, selection }]);
    const again = compress([...asTool(text), { role: 'user', content: 'And fact 70?' }], {
      tier: 'extractive',
      budget: 0.9,
      remembered: (asked) => (asked === id ? JSON.parse(JSON.stringify(selection)) : undefined),
    });
    expect(contentOf(again)).toBe(contentOf(first));
  });

  test('a heading stays with what is kept of its section where the question is about time', () => {
    const session = (n: number): string =>
      `Session ${n}, ${n} May 2023\n\n${Array.from({ length: 20 }, (_, i) => `Ann: remark ${n * 100 + i} on the garden.`).join('\n')}`;
    const text = [1, 2, 3, 4, 5].map(session).join('\n\n');
    const result = compress(asTool(text), {
      tier: 'extractive',
      budget: 0.15,
      query: 'When was remark 307 made?',
    });
    expect(contentOf(result)).toContain('Session 3, 3 May 2023');
    expect(contentOf(result)).toContain('remark 307');
  });

  const answer = 'Mira: The passport number is 5523118, keep it safe.';
  const chat = Array.from(
    { length: 200 },
    (_, i) => `${i % 2 === 0 ? 'Mira' : 'Tobias'}: Small talk ${i * 31} about the weather and the garden.`,
  );
  chat[77] = answer;
  const lines = (write: (line: string) => string): string => chat.map(write).join('\n');
  const turnsOf = (extra: (i: number) => object): object[] =>
    chat.map((line, i) => ({
      speaker: line.split(':')[0],
      text: line.slice(line.indexOf(': ') + 2),
      ...extra(i),
    }));

  test.each<[string, string]>([
    ['lines with a name', lines((line) => line)],
    ['lines with a date and a name', lines((line) => `[1:56 pm on 8 May, 2023] ${line}`)],
    ['lines with a time stamp', lines((line) => `2023-05-08 13:56:02 ${line}`)],
    ['lines as in a chat', lines((line) => `[13:56] <${line.replace(':', '>')}`)],
    ['what each said', lines((line) => line.replace(': ', ' said, "').concat('"'))],
    ['paragraphs', lines((line) => `${line}\n`)],
    ['JSON with equal members', JSON.stringify(turnsOf(() => ({})))],
    [
      'JSON with odd members',
      JSON.stringify({ day: 1, turns: turnsOf((i) => (i % 3 === 0 ? { image: [`${i}.png`] } : {})) }),
    ],
    ['JSON that holds a text', JSON.stringify({ status: 'ok', page: lines((line) => line) })],
  ])('the answer stays, and the budget is used and kept: %s', (_name, text) => {
    for (const budget of [0.5, 0.25, 0.1]) {
      const result = compress(
        [...asTool(text), { role: 'user', content: 'Which number has the passport?' }],
        { tier: 'extractive', budget },
      );
      const allowed = result.account.tokens_before * budget;
      expect(contentOf(result)).toContain('The passport number is 5523118, keep it safe.');
      expect(result.account.tokens_after).toBeLessThanOrEqual(allowed);
      expect(result.account.tokens_after).toBeGreaterThan(allowed * 0.9);
    }
  });

  test('a question behind the material in the same message is what is asked, and stays', () => {
    const question = 'Question: Which number has the passport?';
    const text = `Here is a conversation.\n\n${lines((line) => line)}\n${question}`;
    const result = compress([{ role: 'user', content: text }], { tier: 'extractive', budget: 0.1 });
    expect(contentOf(result)).toContain(answer);
    expect(contentOf(result).endsWith(question)).toBe(true);
  });

  test('what the best passage names is followed to where it stands', () => {
    const filler = (i: number): string =>
      `Passage ${i}\nOld report ${i * 17} describes how the town let its harbour grow, and what that cost the council in those years.`;
    const passages = Array.from({ length: 60 }, (_, i) => filler(i));
    passages[10] = 'Low Tide\nThe picture was directed by Edda Brandt, whose earlier work had been ignored.';
    passages[45] =
      'Edda Brandt\nThe law student from Quenfort, Edda Brandt, wrote comedies on the side and kept bees.';
    const text = passages.join('\n\n');
    const query = 'In which town did the director of Low Tide grow up?';
    const result = compress(asTool(text), { tier: 'extractive', budget: 0.1, query });
    expect(contentOf(result)).toContain('Quenfort');
  });

  test.each([
    'What is the sum of the third column?',
    'List all errors in it.',
    'Translate it completely, leaving nothing out.',
    'How many rows are there?',
    'Compare the two versions.',
  ])('nothing is cut for a request that needs everything: %s', (query) => {
    const text = Array.from({ length: 100 }, (_, i) => `${i},order ${i * 7},${i * 31}`).join('\n');
    const messages = [...asTool(text), { role: 'user', content: query }];
    const result = compress(messages, { tier: 'extractive', budget: 0.2 });
    expect(result.messages).toStrictEqual(messages);
    expect(result.needed).toBe(true);
    expect(compress(messages, { tier: 'extractive', budget: 0.2, always: true }).needed).toBe(false);
  });

  test('a list of Markdown is no code', () => {
    const text = Array.from(
      { length: 60 },
      (_, i) => `* Item ${i} of the list is about subject ${i * 7}`,
    ).join('\n');
    const { blocks } = compress(asTool(text));
    expect(blocks.map(({ kind }) => kind)).toStrictEqual(['prose']);
  });

  test('of a log, the error among thousands of the same lines stays without being asked for', () => {
    const lines = Array.from(
      { length: 2000 },
      (_, i) =>
        `2026-03-01T10:${String(i % 60).padStart(2, '0')}:00Z INFO gate request ${i} served in ${i % 13} ms`,
    );
    lines[1234] = '2026-03-01T10:34:00Z ERROR gate upstream db-7 refused the connection';
    const result = compress(asTool(lines.join('\n')), {
      tier: 'extractive',
      budget: 0.05,
      query: 'What went wrong?',
    });
    expect(contentOf(result)).toContain('db-7 refused');
  });
});

describe('awkward input', () => {
  const wellFormedIfItWas = (text: string, out: string): boolean =>
    out.isWellFormed() || !text.isWellFormed();

  test('no crash and no broken characters', () => {
    fc.assert(
      fc.property(fc.array(anyDocument, { minLength: 3, maxLength: 12 }), tier, (parts, tier) => {
        const text = parts.join('\n');
        const out = contentOf(compress(asTool(text), { tier, budget: 0.2, query: 'gate' }));
        expect(wellFormedIfItWas(text, out)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['one word of a megabyte', 'x'.repeat(1_000_000)],
    ['one line of a megabyte', 'the gate was open. '.repeat(52_000)],
    ['CJK without blanks', '日本語の長い文章です'.repeat(20_000)],
    ['joined emoji', '👩‍👩‍👧‍👦🇩🇪👍🏽'.repeat(5000)],
    ['blanks', ' '.repeat(200_000)],
    ['newlines', '\n'.repeat(200_000)],
    ['openings of JSON', '[\n'.repeat(20_000)],
    ['openings of fences', '```\n'.repeat(20_000)],
    ['deep JSON', `${'[1,'.repeat(50_000)}1${']'.repeat(50_000)}`],
    ['lone surrogates', '\ud800 \udc00. '.repeat(5000)],
    ['backslashes', `["${'\\\\'.repeat(100_000)}"]`],
    ['colons', 'A: b\n'.repeat(20_000)],
    ['bars', '| a | b |\n'.repeat(10_000)],
  ])('%s', (_name, text) => {
    for (const tier of ['lossless', 'extractive'] as const) {
      const result = compress(asTool(text), { tier, budget: 0.1, query: 'When was the gate open?' });
      expect(result.account.tokens_after).toBeLessThanOrEqual(result.account.tokens_before);
      expect(wellFormedIfItWas(text, contentOf(result))).toBe(true);
    }
  });
});

const repositories = new URL('../../../../shared/data/compression/github-repos.json', import.meta.url);

describe.skipIf(!existsSync(repositories))('the table of repositories', () => {
  const pretty = existsSync(repositories) ? readFileSync(repositories, 'utf8') : '[]';
  const rows = JSON.parse(pretty) as { name: string; stars: number }[];
  const compact = JSON.stringify(rows);

  test('at least 40% fewer tokens than pretty, 20% fewer than compact', () => {
    const { account } = compress(asTool(pretty));
    expect(account.tokens_before).toBe(tokenizer.count(pretty));
    expect(account.tokens_after).toBeLessThanOrEqual(tokenizer.count(pretty) * 0.6);
    expect(account.tokens_after).toBeLessThanOrEqual(tokenizer.count(compact) * 0.8);
  });

  test('an answer computed from the decoded form is the same', () => {
    const decoded = JSON.parse(restore(compress(asTool(pretty)))[0]!.content as string) as typeof rows;
    expect(decoded).toStrictEqual(rows);
  });

  test('nested, never worse than compact', () => {
    const nested = rows.map(({ name, stars, ...rest }, i) => ({
      name,
      counts: { stars, tags: [i, 'x'] },
      rest,
    }));
    for (const value of [nested, { total: 100, items: nested }, { a: { b: { c: nested.slice(0, 3) } } }]) {
      const { account } = compress(asTool(JSON.stringify(value, null, 2)));
      expect(account.tokens_after).toBeLessThanOrEqual(tokenizer.count(JSON.stringify(value)));
    }
  });
});

test('a repeated result becomes a reference to the first', () => {
  const text = Array.from({ length: 40 }, (_, i) => `Line ${i} says something of its own.`).join('\n');
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'assistant', content: text },
    { role: 'tool', tool_call_id: 'call_2', content: text },
  ];
  const result = compress(messages);
  expect(result.messages.slice(0, 2)).toStrictEqual(messages.slice(0, 2));
  expect(contentOf(result, 2)).toBe('[the same as the result of call_1 above]');
  expect(restore(result)).toStrictEqual(messages);
});

test.each([
  ['tier', { tier: 'best' as Tier }],
  ['budget', { tier: 'extractive' as const, budget: 0 }],
  ['budget', { tier: 'extractive' as const, budget: Number.NaN }],
])('a wrong %s is refused', (field, given) => {
  expect(() => compress([], given)).toThrow(expect.objectContaining({ code: 'invalid_field', field }));
});
