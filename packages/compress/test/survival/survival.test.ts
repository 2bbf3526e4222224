import { expect, test } from 'vitest';
import { losses } from './losses.ts';

test('of prompts with instructions around pasted material, none loses an instruction at any budget', () => {
  expect(losses(300)).toStrictEqual({});
});
