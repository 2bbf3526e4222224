import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tokenizerFor } from '../../src/index.ts';
import { collect } from './collect.ts';
import { measure } from './measure.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const DOCUMENTS = 150;

test(`${DOCUMENTS} documents that others wrote are read back as they were, and none has more tokens`, () => {
  const found = [...collect([`${root}node_modules`])].filter(({ text }) => text.length < 40_000);
  const every = Math.floor(found.length / DOCUMENTS);
  const chosen = found.filter((_, i) => i % every === 0);
  expect(chosen.length).toBeGreaterThanOrEqual(DOCUMENTS);
  const tokenizer = tokenizerFor();
  const wrong = chosen.filter((document) => {
    const { before, after, equal } = measure(document, tokenizer);
    return !equal || after > before;
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});
