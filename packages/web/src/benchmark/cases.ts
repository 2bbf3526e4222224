import { element } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import type { LostCase, NodeDocument } from './documents.ts';
import { count, round } from './numbers.ts';

/** Draws the cases that lost a fact, with question and document: the worst first, in the document's order. */
export function worstCases({ worst_cases }: NodeDocument): HTMLElement {
  const { text } = prose;
  return folded(
    worst_cases.map(({ question, missing, kind, document, budget, bm25_kept: kept }) =>
      caseOf(
        question,
        missing,
        `${formatText(text.caseAt, kind, document, round(budget))} ${kept ? text.bm25Kept : text.bm25Lost}`,
      ),
    ),
  );
}

/** The same of material that others wrote. */
export function lostCases(cases: readonly LostCase[]): HTMLElement {
  const { text } = prose;
  return folded(
    cases.map(({ id, question, missing, budget, lines_kept: kept }) =>
      caseOf(
        question,
        missing,
        `${formatText(text.lostAt, id, round(budget))} ${kept ? text.bm25Kept : text.bm25Lost}`,
      ),
    ),
  );
}

/** Number of cases that are shown without being asked for. */
const OPEN = 3;

/** The first cases, and the others in a part that the reader opens. */
function folded(cases: readonly HTMLElement[]): HTMLElement {
  const { text } = prose;
  if (cases.length === 0) return element('p', 'help', text.noCases);
  const first = element('ol', 'cases', ...cases.slice(0, OPEN));
  const others = cases.slice(OPEN);
  if (others.length === 0) return first;
  const list = element('ol', 'cases', ...others);
  list.setAttribute('start', String(OPEN + 1));
  const more = element('summary', '', formatText(text.moreCases, count(others.length)));
  return element('div', '', first, element('details', 'more', more, list));
}

function caseOf(question: string, missing: readonly string[], where: string): HTMLElement {
  const { text } = prose;
  return element(
    'li',
    '',
    element('p', 'question', question),
    element('p', 'help', missing.length === 0 ? text.tooLong : text.lost),
    element('ul', 'lost', ...missing.map((fact) => element('li', '', fact))),
    element('p', 'help', where),
  );
}
