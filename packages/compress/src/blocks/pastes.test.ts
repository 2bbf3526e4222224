import { describe, expect, test } from 'vitest';
import { pastesOf } from './pastes.ts';

const many = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const pods = many(12, (i) => `pod-${i}    1/1     Running   ${i}   4d`);
const prose = many(
  6,
  (i) => `The harbour was dredged in ${1900 + i}, and the council paid for it out of the town's own purse.\n`,
);
const rules =
  'Follow these rules:\n1. Answer in Danish.\n2. Never name the customer.\n3. Amounts are in crowns.';
const materialIn = (text: string): string[] =>
  pastesOf(text).map(({ start, end }) => text.slice(start, end).trim());

describe('material', () => {
  test.each([
    ['in a fence of text', `${rules}\n\n\`\`\`log\n${prose}\n\`\`\`\n\nWhat happened?`, prose],
    ['in a tag', `${rules}\n\n<document>\n${prose}\n</document>\n\nWhat happened?`, prose],
    ['between rules', `${rules}\n\n---\n${prose}\n---\n\nWhat happened?`, prose],
    ['after a rule, to the end', `${rules}\n\n---\n${prose}`, prose],
    ['after an announcement', `${rules}\n\nHere is the report:\n\n${prose}`, prose],
    ['before the rules', `Here is the report.\n\n${prose}\n\n${rules}\n\nWhich year was it?`, prose],
    ['of a program, unannounced', `${rules}\n${pods}\n\nWhich pods run?`, pods],
  ])('%s', (_name, text, material) => {
    expect(materialIn(text)).toStrictEqual([material.trim()]);
  });
});

test('a statement that two blank lines or another form set off from material belongs to the instructions after it', () => {
  const stated = 'A complaint is answered before a request, case 100';
  const tail = `${stated}\n\nMark a guess as a guess.\n\nDo not give advice.`;
  expect(materialIn(`Where?\n\nHere is the report:\n\n${prose}\n\n${tail}`)).toStrictEqual([prose.trim()]);
  const long = `${pods}\n${pods}`;
  expect(materialIn(`Where?\n\nHere is the report:\n\n${long}\n\n${tail}`)).toStrictEqual([long]);
});

describe('instructions, which are never material', () => {
  const pairs = (a: string, b: string): string =>
    many(14, (i) => `${a}: I waited ${i} hours for the ferry\n${b}: ${i % 3 === 0 ? 'good' : 'bad'}\n`);

  test.each([
    ['prose without a frame', prose],
    ['rules', many(20, (i) => `${i + 1}. Do not mention item ${i}.`)],
    ['rules in a tag', `<rules>\n${many(12, (i) => `<rule>Item ${i} is secret</rule>`)}\n</rules>`],
    ['a checklist', many(16, (i) => `- [ ] Item ${i} is named`)],
    ['examples with labels', pairs('Text', 'Label')],
    ['examples with unusual labels', pairs('Utterance', 'Mood')],
    ['examples in a tag', `<examples>\n${pairs('Q', 'A')}\n</examples>`],
    ['announced examples', `Here are some examples:\n\n${pairs('Input', 'Output')}`],
    [
      'headings',
      `## Allowed\n${many(9, (i) => `- Feeding hen ${i}`)}\n\n## Not allowed\n${many(9, (i) => `- Feeding mouse ${i}`)}`,
    ],
    [
      'a form of the answer',
      `Answer with JSON like this:\n${JSON.stringify({ verdict: 'yes or no', reasons: many(12, () => 'a sentence') }, null, 1)}`,
    ],
    ['code', `\`\`\`ts\n${many(12, (i) => `const item${i} = ${i};`)}\n\`\`\``],
  ])('%s', (_name, text) => {
    expect(materialIn(text)).toStrictEqual([]);
  });

  test('a question in the middle of a document is no part of it', () => {
    const text = `Here are the minutes:\n\n${prose}\n\nAlso, who was absent?\n\n${prose}`;
    expect(materialIn(text)).toStrictEqual([prose.trim(), prose.trim()]);
  });
});
