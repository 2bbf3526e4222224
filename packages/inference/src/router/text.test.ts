import { expect, it } from 'vitest';
import { askedText } from './text.ts';

const user = (content: string): { role: string; content: string } => ({ role: 'user', content });
const answer = { role: 'assistant', content: 'Certainly.' };

it.each([
  [[], ''],
  [[answer], ''],
  [[user('Hi!')], 'Hi!'],
  [[user('Prove it.'), answer, user('Go on')], 'Prove it.\nGo on'],
  [[user('Prove it.'), answer, user('What is the capital of France?')], 'What is the capital of France?'],
])('takes what %j asks', (messages, expected) => {
  expect(askedText({ messages })).toBe(expected);
});
