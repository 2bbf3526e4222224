import { paint, printable } from '@tallystick/cli/toolkit';
import type { Normalized } from '../../pilots/rosetta/answer.ts';

type Target = Normalized['targets'][number];
type ConceptLine = Target['concepts'][number];
type TermLine = ConceptLine['stricter'][number];

const MARKS = { same: '=', maps: '✓', stricter: '▲', no_equivalent: '∅', decide: '?' } as const;
const COLOURS = {
  same: 'dim',
  maps: 'green',
  stricter: 'red',
  no_equivalent: 'yellow',
  decide: 'yellow',
} as const;
/** Reasons for a decision that another line already shows: the rule with its condition, and the entry's note. */
const TOLD: ReadonlySet<string> = new Set(['condition', 'unchecked']);
const WIDTH = 20;
const INDENT = ' '.repeat(4);

/** The result for a policy, a block for each jurisdiction, in lines for a terminal. */
export function table(answer: Normalized): string {
  const { crosswalk, notice, unknown } = answer;
  return [
    ...answer.targets.flatMap((target) => block(answer.jurisdiction, target)),
    ...(unknown.length === 0 ? [] : [paint('bold', 'Not understood, and therefore not compared')]),
    ...unknown.map(({ concept, term, expected, did_you_mean: near }) => {
      const place = term === null ? concept : `${concept}.${term}`;
      return printable(`${INDENT}${place}: ${expected}${near === null ? '' : ` (did you mean ${near}?)`}`);
    }),
    ...(unknown.length === 0 ? [] : ['']),
    printable(notice),
    printable(
      `Crosswalk ${crosswalk.version} as of ${crosswalk.as_of}: a person has checked ${crosswalk.checked_by_person} of its ${crosswalk.entries} entries.`,
    ),
  ].join('\n');
}

function block(from: string, { jurisdiction, name, concepts, unstated }: Target): string[] {
  return [
    paint('bold', printable(`${from} → ${jurisdiction}  ${name}`)),
    ...concepts.flatMap(conceptLines),
    ...(unstated.length === 0
      ? []
      : [paint('dim', printable(`  not in the policy: ${unstated.join(', ')}`))]),
    '',
  ];
}

function conceptLines(line: ConceptLine): string[] {
  const { concept, outcome, from, to, maps, stricter, no_equivalent: silent, decide } = line;
  const labels = (list: ConceptLine['to']): string => list.map(({ label }) => label).join('; ');
  const head = `${MARKS[outcome] ?? ' '} ${concept.padEnd(WIDTH)} ${outcome.replace('_', ' ')}`;
  if (outcome === 'same') return [paint('dim', printable(`${head}  ${labels(to)}`))];
  return [
    `${paint(COLOURS[outcome] ?? 'dim', printable(head))}  ${paint('dim', printable(`${labels(from)} → ${labels(to)}`))}`,
    ...maps.map((one) => printable(`${INDENT}✓ ${termText(one)}`)),
    ...stricter.map((one) => printable(`${INDENT}▲ ${termText(one)}`)),
    ...silent.map((term) => printable(`${INDENT}∅ ${term}: nothing corresponds`)),
    ...decide
      .filter(({ reason }) => !TOLD.has(reason))
      .map(({ term, question }) => printable(`${INDENT}? ${term === null ? '' : `${term}: `}${question}`)),
    ...(line.note === null
      ? []
      : [paint('dim', printable(`${INDENT}${line.confidence.replace('_', ' ')}: ${line.note}`))]),
  ];
}

const OPERATORS = {
  at_most: 'at most',
  at_least: 'at least',
  equals: 'must be',
  at_least_level: 'at least',
  one_of: 'one of',
} as const;

function termText({ term, value, require, unit, when, applies_from: from, citation }: TermLine): string {
  if (require === null) return `${term}: ${citation.label}`;
  const requirement = `${OPERATORS[require.op] ?? ''} ${[require.value].flat().join(', ')}${unit === null ? '' : ` ${unit}s`}`;
  const since = from === null ? '' : `, from ${from}`;
  const condition = when === null ? '' : `, where ${when}`;
  return `${term} ${value}: ${requirement} (${citation.label}${since})${condition}`;
}
