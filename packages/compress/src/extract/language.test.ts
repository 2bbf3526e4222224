import { expect, test } from 'vitest';
import { type ChatMessage, compress } from '../index.ts';
import { languageOf } from './language.ts';

const filler: Readonly<Record<string, (i: number) => string>> = {
  de: (i) =>
    `Die Regel Nummer ${i} gilt für alle Räume des Hauses und wird im Frühjahr von der Verwaltung geprüft.`,
  fr: (i) =>
    `La règle numéro ${i} vaut pour toutes les salles de la maison et elle est revue au printemps par la gérance.`,
  es: (i) =>
    `La regla número ${i} vale para todas las salas de la casa y se revisa en primavera por la gerencia.`,
  en: (i) =>
    `Rule number ${i} holds for all the rooms of the house and is reviewed in spring by the management.`,
  zh: (i) => `第${i}条规则适用于本楼所有的房间，每年春天由管理处检查一次，并在公告栏上公布结果。`,
  ja: (i) =>
    `規則第${i}条は建物のすべての部屋に適用され、毎年春に管理事務所が点検し、結果を掲示板で公表する。`,
};

test.each(['de', 'fr', 'es', 'en'] as const)('a text in %s is told by its function words', (language) => {
  expect(languageOf(Array.from({ length: 20 }, (_, i) => filler[language]!(i)))).toBe(language);
});

test('English with a few words of another language stays English', () => {
  const lines = [
    'Ana: I said "el perro de la casa" and she laughed at me.',
    'Ben: That is what you get for it.',
  ];
  expect(languageOf(lines)).toBe('en');
});

test.each([
  [
    'de',
    'Darf ich ein Haustier halten?',
    'Hunde, Katzen und andere Haustiere brauchen eine schriftliche Erlaubnis.',
  ],
  ['fr', 'Est-ce que je peux garder un animal ?', 'Les animaux demandent une permission écrite.'],
  ['es', '¿Puedo alquilar una bicicleta?', 'El alquiler de bicicletas cuesta nueve monedas.'],
  ['zh', '宠物需要什么许可？', '饲养宠物必须事先取得书面许可。'],
  ['ja', 'ペットの許可について教えてください。', 'ペットを飼うには書面による許可が必要である。'],
])('in %s an answer in other forms of the question’s words stays', (language, question, answer) => {
  const paragraphs = Array.from({ length: 40 }, (_, i) => filler[language]!(i));
  const messages: ChatMessage[] = [
    { role: 'tool', content: paragraphs.toSpliced(27, 0, answer).join('\n\n') },
    { role: 'user', content: question },
  ];
  const { messages: out } = compress(messages, { tier: 'extractive', budget: 0.1 });
  expect(out[0]?.content).toContain(answer);
});
