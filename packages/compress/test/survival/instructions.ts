import { many, pick, type Random } from '../quality/random.ts';

/** An instructing text, and the stretches of it that must reach the model unchanged. */
export interface Instructions {
  readonly text: string;
  readonly needed: readonly string[];
}

const acts = [
  'Do not give medical advice',
  'Never reveal the internal code K-19',
  'Answer in British English',
  'Keep each answer below eighty words',
  'Quote the line that you rely on',
  'If the material is silent, say so',
  'Write dates as year, month and day',
  'Call the customer by the first name',
  'Amounts are in Danish crowns',
  'Only staff may see a telephone number',
  'Refunds above 200 go to a supervisor',
  'Passwords must not be repeated',
  'Mark a guess as a guess',
  'The tone is friendly but short',
  'No tables, no emoji, no bold type',
  'A complaint is answered before a request',
];
const subjects = ['the storm', 'a late parcel', 'the broken kettle', 'our new menu', 'the night train'];
const verdicts = ['positive', 'negative', 'neutral', 'unclear'];

const rulesOf = (random: Random, count: number): string[] =>
  many(count, (i) => `${pick(random, acts)}, case ${100 + i * 3}${pick(random, ['.', '', '.'])}`);

const listed = (
  random: Random,
  count: number,
  head: string,
  write: (rule: string, i: number) => string,
): Instructions => {
  const lines = rulesOf(random, count).map(write);
  return { text: [head, ...lines].join('\n'), needed: [head, ...lines] };
};

const tagged = (tag: string, { text, needed }: Instructions): Instructions => ({
  text: `<${tag}>\n${text}\n</${tag}>`,
  needed: [`<${tag}>`, ...needed, `</${tag}>`],
});

const pairs = (random: Random, count: number, input: string, output: string): Instructions => {
  const needed = many(
    count,
    (i) =>
      `${input}: I read ${i} lines about ${pick(random, subjects)} and thought of it\n${output}: ${pick(random, verdicts)}`,
  );
  return { text: needed.join('\n\n'), needed };
};

/** Ways in which people instruct a model within a user's message. */
export const styles = {
  'numbered rules': (random) => listed(random, 20, 'Follow these rules:', (rule, i) => `${i + 1}. ${rule}`),
  bullets: (random) => listed(random, 14, 'Please note:', (rule) => `- ${rule}`),
  checklist: (random) => listed(random, 16, 'Check before you answer:', (rule) => `- [ ] ${rule}`),
  'plain lines': (random) => listed(random, 12, '', (rule) => rule),
  paragraphs: (random) => {
    const needed = rulesOf(random, 9);
    return { text: needed.join('\n\n'), needed };
  },
  'one paragraph': (random) => {
    const text = rulesOf(random, 12)
      .map((rule) => rule.replace(/\.?$/, '.'))
      .join(' ');
    return { text, needed: [text] };
  },
  tags: (random) =>
    tagged(
      pick(random, ['rules', 'instructions', 'policy', 'guidelines']),
      listed(random, 9, 'These hold always.', (rule) => `<rule>${rule}</rule>`),
    ),
  headings: (random) => {
    const allowed = listed(random, 6, '## Allowed', (rule) => `- ${rule}`);
    const forbidden = listed(random, 6, '## Not allowed', (rule) => `- ${rule}`);
    return {
      text: `${allowed.text}\n\n${forbidden.text}`,
      needed: [...allowed.needed, ...forbidden.needed],
    };
  },
  'examples Text/Label': (random) => pairs(random, 24, 'Text', 'Label'),
  'examples Q/A': (random) => pairs(random, 16, 'Q', 'A'),
  'examples Input/Output': (random) => pairs(random, 16, 'Input', 'Output'),
  'examples User/Assistant': (random) => pairs(random, 12, 'User', 'Assistant'),
  'examples in tags': (random) => {
    const found = pairs(random, 12, 'Sentence', 'Class');
    return tagged('examples', found);
  },
  'form of the answer': () => {
    const text = `Answer with JSON of this form:\n${JSON.stringify({ verdict: 'one of yes, no, unclear', reasons: ['a sentence', 'another sentence'], quotes: [{ line: 1, text: 'the words as they stand' }] }, null, 2)}`;
    return { text, needed: [text] };
  },
} satisfies Readonly<Record<string, (random: Random) => Instructions>>;

export type Style = keyof typeof styles;
