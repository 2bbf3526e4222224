import { copyButton, element, fromTemplate } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import type { Origin } from './documents.ts';
import { count } from './numbers.ts';

/** Draws the versions and the corpus of the measurement, and the command that reproduces it. */
export function originOf({ command, corpus, generated_with: made }: Origin): DocumentFragment {
  const copied = (text: string, what: string): Node =>
    element('span', 'copied', element('code', '', text), copyButton(text, what));
  return fromTemplate('t-origin', {
    command: copied(command, prose.text.theCommand),
    digest: copied(corpus.sha256, prose.text.theDigest),
    documents: count(corpus.documents),
    cases: count(corpus.cases),
    tokens: count(corpus.tokens),
    engine: `${made.package} ${made.version}`,
    tokenizer: made.tokenizer,
  });
}
