import type { CitationLine, ConceptLine, Decision, TermLine } from './answer.ts';
import { type Term, type TermValue, termsOf } from './concepts.ts';
import type { Crosswalk } from './crosswalk.ts';
import type { Citation, Entry, Rule } from './crosswalk-schema.ts';
import type { Statement } from './read-policy.ts';
import { meets, nearest, type Requirement } from './requirement.ts';

export interface Compared {
  readonly line: ConceptLine;
  /** The statement as expressed for the target. */
  readonly expressed: Statement;
}

/** Compares a statement with the target's entry. `from` is the source's entry; both are for the statement's concept. */
export function compareConcept(
  { instruments }: Pick<Crosswalk, 'instruments'>,
  statement: Statement,
  { from, to }: { readonly from: Entry; readonly to: Entry },
): Compared {
  const cite = (entry: Entry) => entry.citations.map((citation) => citationLine(instruments, citation));
  const cited = cite(to);
  const found = to.rules.map((rule) => compareRule(rule, statement, cited));
  const lines = (kind: RuleDecision['kind']) =>
    found.filter((one) => one.kind === kind).map(({ line }) => line);
  const moved = [...statement.terms].map(([name, value]) => move(found, name, value, statement));
  const chosen = moved.filter((one) => one.to === null).map((one) => choice(one.name, found));
  const silent = [...statement.terms.keys()].filter((name) => to.rules.every((rule) => rule.term !== name));
  const ofTerms = [...found.flatMap(({ decision }) => decision ?? []), ...chosen];
  const stricter = lines('stricter');
  const line: ConceptLine = {
    concept: statement.concept,
    outcome: outcomeOf({ to, stricter, ofTerms, silent, statement }),
    equivalent: to.equivalent,
    summary: to.summary,
    from: cite(from),
    to: cited,
    maps: lines('maps'),
    stricter,
    no_equivalent: silent,
    decide: [...ofTerms, ...to.decide.map(question), ...unchecked(to)],
    confidence: to.confidence,
    note: to.note,
    as_of: to.as_of,
    checked: to.checked,
  };
  const terms = new Map(moved.flatMap(({ name, to }) => (to === null ? [] : [[name, to] as const])));
  return { line, expressed: { concept: statement.concept, terms } };
}

/** The result for a target that is the source itself: the statement is unchanged. */
export function sameConcept(
  { instruments }: Pick<Crosswalk, 'instruments'>,
  statement: Statement,
  entry: Entry,
): Compared {
  const cited = entry.citations.map((citation) => citationLine(instruments, citation));
  const { concept } = statement;
  const { equivalent, summary, confidence, note, as_of, checked } = entry;
  return {
    expressed: statement,
    line: {
      concept,
      outcome: 'same',
      equivalent,
      summary,
      from: cited,
      to: cited,
      maps: [],
      stricter: [],
      no_equivalent: [],
      decide: [],
      confidence,
      note,
      as_of,
      checked,
    },
  };
}

interface RuleDecision {
  readonly kind: 'maps' | 'stricter' | 'decide';
  readonly rule: Rule;
  readonly line: TermLine;
  readonly decision: Decision | null;
}

function compareRule(
  rule: Rule,
  { concept, terms }: Statement,
  cited: readonly CitationLine[],
): RuleDecision {
  const term = termsOf(concept).get(rule.term);
  const citation = cited[rule.citation];
  if (term === undefined || citation === undefined) throw new Error('The crosswalk was not validated.');
  const value = terms.get(rule.term) ?? null;
  const { says, when, applies_from } = rule;
  const require: Requirement | null = rule.require;
  const unit = term.kind === 'quantity' && require !== null ? term.unit : null;
  const line: TermLine = { term: rule.term, value, require, unit, says, when, applies_from, citation };
  const decide = (reason: Decision['reason'], question: string): RuleDecision => ({
    kind: 'decide',
    rule,
    line,
    decision: { reason, term: rule.term, question, citation },
  });
  const requirement = when === null ? says : `Where ${when}: ${says}`;
  if (value === null) return decide('unstated', `The policy does not state this. ${requirement}`);
  if (require === null) return decide('standard', requirement);
  if (meets(term, require, value)) return { kind: 'maps', rule, line, decision: null };
  if (citation.force === 'voluntary') return decide('voluntary', `Not binding, and not met. ${requirement}`);
  const condition =
    when === null
      ? null
      : ({ reason: 'condition', term: rule.term, question: `Does this hold: ${when}?`, citation } as const);
  return { kind: 'stricter', rule, line, decision: condition };
}

interface TranslatedStatement {
  readonly name: string;
  readonly to: TermValue | null;
}

/** The value to which the stricter rules move a term; null where a person has to choose. */
function move(
  found: readonly RuleDecision[],
  name: string,
  value: TermValue,
  { concept }: Pick<Statement, 'concept'>,
): TranslatedStatement {
  const term = termsOf(concept).get(name) as Term;
  const binding = found.filter(
    ({ rule, line }) => rule.term === name && rule.require !== null && line.citation.force === 'binding',
  );
  return {
    name,
    to: nearest(
      term,
      binding.flatMap(({ rule }) => rule.require ?? []),
      value,
    ),
  };
}

function choice(name: string, found: readonly RuleDecision[]): Decision {
  const citation = found.find(({ kind, rule }) => kind === 'stricter' && rule.term === name)?.line.citation;
  return {
    reason: 'choice',
    term: name,
    question: 'The rules of this jurisdiction do not give a single value: choose one that meets them all.',
    citation: citation ?? null,
  };
}

function question(text: string): Decision {
  return { reason: 'question', term: null, question: text, citation: null };
}

function unchecked({ confidence, note }: Entry): Decision[] {
  if (confidence !== 'needs_person' || note === null) return [];
  return [{ reason: 'unchecked', term: null, question: note, citation: null }];
}

function outcomeOf({
  to,
  stricter,
  ofTerms,
  silent,
  statement,
}: {
  readonly to: Entry;
  readonly stricter: readonly TermLine[];
  readonly ofTerms: readonly Decision[];
  readonly silent: readonly string[];
  readonly statement: Statement;
}): ConceptLine['outcome'] {
  if (stricter.length > 0) return 'stricter';
  if (to.equivalent === 'none') return 'no_equivalent';
  if (statement.terms.size > 0 && silent.length === statement.terms.size) return 'no_equivalent';
  // Terms that the policy does not state are listed, but do not change the outcome of the others.
  return ofTerms.some(({ reason }) => reason !== 'unstated') ? 'decide' : 'maps';
}

function citationLine(
  instruments: Crosswalk['instruments'],
  { instrument: id, article, section, year }: Citation,
): CitationLine {
  const instrument = instruments.get(id);
  if (instrument === undefined) throw new Error('The crosswalk was not validated.');
  const { short, title, force } = instrument;
  return {
    label: `${short} ${placeOf(article, section)}`,
    instrument: id,
    title,
    article,
    section,
    year,
    force,
  };
}

/** `Art. 5(1)(e)`, but `GOVERN 1.7` and `Art. 6 I`. */
function placeOf(article: string, section: string | null): string {
  if (section === null) return article;
  const joined = section.startsWith('(') && /\d[A-Z]?$/.test(article);
  return joined ? article + section : `${article} ${section}`;
}
