import { element } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import type { NodeDocument } from './documents.ts';
import { round } from './numbers.ts';

/** Draws the cases that lost a fact, with question and document: the worst first, in the document's order. */
export function worstCases({ worst_cases }: NodeDocument): HTMLElement {
  if (worst_cases.length === 0) return element('p', 'help', prose.text.noCases);
  return element('ol', 'cases', ...worst_cases.map(caseOf));
}

function caseOf({
  question,
  missing,
  kind,
  document,
  budget,
  bm25_kept,
}: NodeDocument['worst_cases'][number]): Node {
  const { text } = prose;
  const lost = missing.map((fact) => element('li', '', fact));
  const other = bm25_kept ? text.bm25Kept : text.bm25Lost;
  return element(
    'li',
    '',
    element('p', 'question', question),
    element('p', 'help', text.lost),
    element('ul', 'lost', ...lost),
    element('p', 'help', `${formatText(text.caseAt, kind, document, round(budget))} ${other}`),
  );
}
