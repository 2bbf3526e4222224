import * as fc from 'fast-check';
import type { ChatMessage } from '../src/index.ts';

/** Texts that break naive handling: the package's own marks, joined emoji, both directions, half characters. */
const awkward = fc.constantFrom(
  '[…12]',
  '[×3 more]',
  'TSV, 2 rows:',
  '[cut 0123456789ab: 1 of 2 turns (9 tokens) left out; […n] stands for n of them]',
  '[the same as message 1 (user) above]',
  '👩‍👩‍👧‍👦',
  '🇩🇪🇫🇷',
  'e\u0301',
  '\ud800',
  '\udc00x',
  'שלום עולם',
  '\u202eabc',
  '日本語のテキスト。',
  '\u2028',
  '\ufeff',
  '012',
  '1e400',
  '- a: b',
  'true',
  '"quoted"',
  'a\tb',
  '\u0000',
  '<|endoftext|>',
);

const words = fc
  .array(
    fc.constantFrom('the', 'gate', 'was', 'open', 'at', 'Berlin', 'order', '4711', 'failed', 'and', 'so'),
    {
      minLength: 3,
      maxLength: 14,
    },
  )
  .map((all) => all.join(' '));

const sentence = fc
  .oneof({ weight: 6, arbitrary: words }, { weight: 1, arbitrary: awkward })
  .map((text) => `${text}. `);

export const prose = fc
  .array(fc.array(sentence, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 })
  .map((paragraphs) => paragraphs.map((sentences) => sentences.join('')).join('\n\n'));

export const dialogue = fc
  .array(fc.tuple(fc.constantFrom('Alice', 'Bob', 'Dr. Chen'), sentence), { minLength: 6, maxLength: 60 })
  .map((turns) => turns.map(([name, text]) => `${name}: ${text}`).join('\n'));

export const log = fc
  .array(
    fc.tuple(
      fc.nat(86_399),
      fc.constantFrom('INFO', 'WARN', 'ERROR'),
      sentence,
      fc.integer({ min: 1, max: 5 }),
    ),
    {
      minLength: 5,
      maxLength: 60,
    },
  )
  .map((lines) =>
    lines
      .flatMap(([at, level, text, times]) => {
        const time = `2026-03-01T${[at / 3600, (at / 60) % 60, at % 60].map((n) => String(Math.floor(n)).padStart(2, '0')).join(':')}Z`;
        return Array.from({ length: times }, () => `${time} ${level} gate ${text}`);
      })
      .join('\n'),
  );

/** Numbers as they are written, not as they are parsed. */
export const numberLexeme = fc.oneof(
  fc.constantFrom(
    '-0',
    '0.10',
    '1e5',
    '1E+5',
    '12345678901234567890',
    '0.1000000000000000055',
    '1e-400',
    '-0.0',
    '1E400',
    '-1E-0',
    `0.${'1234567890'.repeat(6)}`,
    '9'.repeat(60),
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
);

const stringLexeme = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
  awkward.map((text) => JSON.stringify(text)),
  words.map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\u00e9"', '"\\/"', '"\\ud83d\\ude00"', '"\\ud800"'),
);
const scalar = fc.oneof(numberLexeme, stringLexeme, fc.constantFrom('true', 'false', 'null'));
const name = fc.oneof(
  fc.constantFrom('"id"', '"name"', '"a.b"', '"x y"', '""', '"__proto__"', '"-"', '"a:b"', '"\\u0069d"'),
  stringLexeme,
);
const blank = fc.constantFrom('', ' ', '\n  ', '\t');

function joined(items: readonly string[], open: string, close: string, gap: string): string {
  return `${open}${gap}${items.join(`,${gap}`)}${gap}${close}`;
}

/** JSON texts with any whitespace, repeated members and lexemes that no serializer writes. */
export const json: fc.Arbitrary<string> = fc.letrec<{ value: string; table: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc
      .tuple(fc.array(tie('value'), { maxLength: 5 }), blank)
      .map(([items, gap]) => joined(items, '[', ']', gap)),
    fc.tuple(fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }), blank).map(([members, gap]) =>
      joined(
        members.map(([key, value]) => `${key}:${gap}${value}`),
        '{',
        '}',
        gap,
      ),
    ),
    tie('table'),
  ),
  table: fc
    .tuple(
      fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
      fc.array(fc.array(scalar, { minLength: 4, maxLength: 4 }), { maxLength: 12 }),
      blank,
    )
    .map(([names, rows, gap]) =>
      joined(
        rows.map((row) =>
          joined(
            names.map((key, i) => `${key}:${row[i]}`),
            '{',
            '}',
            gap,
          ),
        ),
        '[',
        ']',
        gap,
      ),
    ),
})).value;

const login = fc.constantFrom('ana', 'ben', 'ana-2', '42', '4\ud83d\ude00', 'x<y', '«z»', '$1', '');
/** Values as APIs give them: addresses with an id in them, the same for all, absent, or any other. */
const field = fc.oneof(
  fc.tuple(login, fc.nat(3)).map(([who, n]) => `"https://api.example.com/users/${who}/repos?page=${n}"`),
  login.map((who) => `{"login":"${who}","url":"https://api.example.com/users/${who}","admin":false}`),
  login.map((who) => `["${who}",{"n":1}]`),
  fc.constantFrom('"2026-03-01T10:00:00Z"', '""', 'null', '{}', '[]', '"the same long text for all of them"'),
  scalar,
);

/** JSON whose objects are alike: nested, with members that are sometimes absent, in a list or as the members of an object. */
export const records: fc.Arbitrary<string> = fc
  .tuple(
    fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
    fc.array(fc.array(fc.tuple(fc.nat(7), field), { minLength: 4, maxLength: 4 }), {
      minLength: 2,
      maxLength: 9,
    }),
    fc.constantFrom('', '{"items":', '{"a":[[{"n":1},{"n":2}],'),
    fc.option(fc.array(login, { minLength: 9, maxLength: 9 })),
  )
  .map(([names, rows, before, owners]) => {
    const items = rows.map((row) =>
      joined(
        names.flatMap((key, i) => (row[i]![0] === 0 ? [] : [`${key}:${row[i]![1]}`])),
        '{',
        '}',
        '',
      ),
    );
    const after = before === '' ? '' : before.endsWith(',') ? ']}' : '}';
    if (owners === null) return `${before}${joined(items, '[', ']', '')}${after}`;
    const members = items.map((item, i) => `"${owners[i]}${i % 4 === 3 ? '' : i}":${item}`);
    return `${before}${joined(members, '{', '}', '')}${after}`;
  });

export const code = fc
  .array(
    fc.constantFrom('const a = f(1);', 'if (a > 2) {', '  return a;', '}', 'import x from "y";', '// why'),
    {
      minLength: 6,
      maxLength: 40,
    },
  )
  .map((lines) => lines.join('\n'));

export const fenced = code.map((text) => `\`\`\`ts\n${text}\n\`\`\``);

const markdown = fc
  .tuple(
    prose,
    fenced,
    fc.array(words, { minLength: 2, maxLength: 6 }),
    fc.array(words, { minLength: 4, maxLength: 9 }),
  )
  .map(
    ([text, sample, items, cells]) =>
      `# Gate report\n\n${text}\n\n${items.map((item) => `- ${item}`).join('\n')}\n\n${sample}\n\n| a | b |\n|---|---|\n${cells.map((cell) => `| ${cell} | ${cell.length} |`).join('\n')}`,
  );

/** Rows whose cells contain separators of cells and rows, or look like a number, a literal or nothing. */
const hazards = fc
  .array(
    fc.constantFrom(
      'a\tb',
      'a\nb',
      '\r\n',
      '',
      ' ',
      ' x',
      'x ',
      'null',
      'true',
      '1.0',
      '1e5',
      '-0',
      '007',
      '"',
      '\\',
      '\\t',
      '{',
      '[1]',
      'a,b',
      'a: b',
      '- a',
      '#',
      '\u2028',
      '\u0085',
      '\ud800',
      '…',
      '[…]',
      '[×2 more]',
      'TSV, 1 rows:',
    ),
    { minLength: 6, maxLength: 60 },
  )
  .map((cells) => {
    const rows = Array.from({ length: Math.floor(cells.length / 3) }, (_, i) =>
      cells.slice(i * 3, i * 3 + 3),
    );
    return JSON.stringify(rows.map(([a, b, c]) => ({ 'the first': a, b, 'c,d': c })));
  });

export const diff = code.map(
  (text) =>
    `diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1,3 +1,4 @@\n${text.replaceAll(/^/gm, '+')}`,
);

export const schema = fc
  .array(fc.string({ unit: 'grapheme-ascii', maxLength: 8 }), { maxLength: 8 })
  .map((names) =>
    JSON.stringify(
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: Object.fromEntries(names.map((key) => [key, { type: 'string' }])),
      },
      null,
      2,
    ),
  );

export const anyDocument = fc.oneof(
  prose,
  dialogue,
  log,
  json,
  records,
  hazards,
  markdown,
  code,
  fenced,
  diff,
  schema,
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .array(fc.oneof(prose, json, fenced, log), { minLength: 2, maxLength: 4 })
    .map((parts) => parts.join('\n\n')),
);

const content = fc.oneof(
  anyDocument,
  fc.array(
    fc.oneof(
      anyDocument.map((text) => ({ type: 'text', text })),
      fc.constant({ type: 'image_url', image_url: { url: 'data:,' } }),
    ),
    {
      maxLength: 3,
    },
  ),
  fc.constant(null),
);

export const conversation: fc.Arbitrary<ChatMessage[]> = fc
  .array(
    fc.record(
      {
        role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'),
        content,
        tool_call_id: fc.constantFrom('call_1', 'call_2'),
        cache_control: fc.constant({ type: 'ephemeral' }),
      },
      { requiredKeys: ['role', 'content', 'tool_call_id'] },
    ),
    { minLength: 1, maxLength: 6 },
  )
  // Breakpoints are rare: they would freeze nearly everything.
  .map((messages) =>
    messages.map(({ cache_control: mark, ...message }, i) =>
      mark !== undefined && i % 5 === 1 ? { ...message, cache_control: mark } : message,
    ),
  );
