// Writes the word vectors of packages/compress from GloVe's: `node scripts/word-vectors.ts glove.6B.50d.txt`, with the
// file of that name in glove.6B.zip (https://nlp.stanford.edu/projects/glove/), whose words are sorted by frequency.

import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { termsOf } from '../packages/compress/src/extract/terms.ts';

const WORDS = 20_000;
/** Largest of the levels that the table stores: -7 to 7, in four bits. */
const MOST = 7;
const TARGET = new URL('../packages/compress/src/extract/word-vectors.ts', import.meta.url);

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error('Which file? node scripts/word-vectors.ts glove.6B.50d.txt');

const vectors = await vectorsOf(source);
const mean = meanOf([...vectors.values()]);
const terms = [...vectors.keys()];
const packed = Buffer.from([...vectors.values()].flatMap((vector) => pairs(levels(vector, mean)))).toString(
  'base64',
);

await writeFile(
  TARGET,
  `/**
 * Vectors of ${terms.length} English terms, the stems of the ${WORDS.toLocaleString('en')} most frequent words of GloVe 6B with 50 dimensions
 * (J. Pennington, R. Socher and C. D. Manning, "GloVe: Global Vectors for Word Representation", 2014; public domain,
 * PDDL 1.0), their mean subtracted. Written by \`scripts/word-vectors.ts\`.
 */
export const DIMENSIONS = ${mean.length};

/** A function, so that the text takes no memory before it is asked for. */
export const vectorTerms = (): string =>
  '${terms.join(' ')}';

/** Base64 of four bits per dimension, the first in the high bits: the value relative to the vector's largest, plus 8. */
export const vectorLevels = (): string =>
  '${packed}';
`,
);

/** For each term, the vector of the most frequent word with that term. */
async function vectorsOf(file: string): Promise<Map<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  let words = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [word = '', ...values] = line.split(' ');
    if (!/^[a-z]{2,}$/.test(word)) continue;
    const [term = word] = termsOf(word);
    if (!found.has(term)) found.set(term, values.map(Number));
    if (++words === WORDS) break;
  }
  return found;
}

function meanOf(all: readonly (readonly number[])[]): number[] {
  const [first = []] = all;
  return first.map((_, d) => all.reduce((sum, vector) => sum + (vector[d] ?? 0), 0) / all.length);
}

function levels(vector: readonly number[], middle: readonly number[]): number[] {
  const centred = vector.map((value, d) => value - (middle[d] ?? 0));
  const largest = Math.max(...centred.map(Math.abs));
  return centred.map((value) => Math.round((value / largest) * MOST));
}

function pairs(values: readonly number[]): number[] {
  return values.flatMap((value, d) => (d % 2 === 0 ? [((value + 8) << 4) | ((values[d + 1] ?? 0) + 8)] : []));
}
