import type { Outcome } from '../quality/grade.ts';
import { type MaterialRow, rowOf } from './rows.ts';

const RULES: ReadonlySet<string> = new Set(['line', 'sentence', 'gap', 'setting', 'release']);

const NEGATION =
  /\b(?:not|no|never|none|nor|without|cannot|kein\w*|nicht|nie|ohne|ne|pas|sans|jamais|nunca|sin|ningún)\b|n['’]t\b|[不没無]|ない|ません/iu;
const OBLIGATION =
  /\b(?:must|shall|should|required?|only|muss|müssen|darf|dürfen|doit|doivent|debe|deben)\b|必须|应该|しなければ/iu;

const holding =
  (pattern: RegExp) =>
  ({ question }: Outcome): boolean =>
    RULES.has(question.kind) && question.gold.every(({ text }) => pattern.test(text));

/** What must survive within the material: of the questions whose answer has it, the share that keeps the answer. */
export function survivors(outcomes: readonly Outcome[]): MaterialRow[] {
  const of = (matches: (outcome: Outcome) => boolean): Outcome[] => outcomes.filter(matches);
  return [
    rowOf('what must or should be done', of(holding(OBLIGATION))),
    rowOf('negations', of(holding(NEGATION))),
    rowOf('numbers', of(holding(/\d/))),
    rowOf(
      'headings with what stands under them',
      of(({ question }) => question.kind === 'heading'),
    ),
    rowOf(
      'its own heading above what is kept',
      of(({ question }) => question.labelled === true),
      ({ dated }) => dated,
    ),
  ];
}
