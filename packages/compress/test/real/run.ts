import { tokenizerFor } from '../../src/index.ts';
import { collect } from './collect.ts';
import { type Measured, measure, table } from './measure.ts';

/**
 * Compresses every JSON document in the given folders, and prints what it saves by kind:
 * `node packages/compress/test/real/run.ts FOLDER…`. `fetch.ts` beside it fills the folders that bench/README.md measures.
 */
const seen = new Set<string>();
const measured: Measured[] = [];
for (const document of collect(process.argv.slice(2))) {
  if (seen.has(document.text)) continue;
  seen.add(document.text);
  measured.push(measure(document, tokenizerFor()));
}
const sizes = [200, 500, 2000];
const answers = measured.filter(({ kind }) => /^(?:GitHub|AWS)/.test(kind));
const size = ({ before }: Measured): string =>
  `under ${sizes.find((most) => before < most)?.toLocaleString('en') ?? 'any number of'} tokens`;

process.stdout.write(
  `${table(measured, ({ kind }) => kind)}\nGitHub and AWS by length:\n\n${table(answers, size)}`,
);
