import { materialTables } from '../material/readme.ts';
import { aligned } from './aligned.ts';
import type { Results } from './results.ts';

const BEGIN = '<!-- npm run benchmark writes from here -->';
const END = '<!-- to here -->';

/** Puts the tables of these results between the two marks of a text. @throws Error if the marks are missing */
export function withTables(text: string, results: Results): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`There is no ${BEGIN} … ${END}.`);
  return `${text.slice(0, from + BEGIN.length)}\n\n${[...tables(results)].join('\n')}\n\n${text.slice(to)}`;
}

const percent = (share: number): string => (share * 100).toFixed(1);
const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)}`;

function* tables({ corpus, nodes, generated_with: made }: Results): Generator<string> {
  yield `${number(corpus.cases)} questions on ${corpus.documents} documents of together ${number(corpus.tokens)} tokens (${made.tokenizer}); corpus \`${corpus.sha256.slice(0, 16)}…\`. Percent of the questions of which`;
  yield 'every fact is kept, with its 95 % interval:';
  yield '';
  yield* aligned(['', 'tier', '50 % of the tokens', '25 %', '10 %'], keptRows(nodes));
  yield '';
  yield 'Extractive minus BM25, question by question, in points:';
  yield '';
  yield* aligned(['', 'questions', '50 %', '25 %', '10 %'], pairedRows(nodes));
  yield '';
  yield 'What the lossless tier saves, in percent of the tokens of a document:';
  yield '';
  yield* aligned(
    ['', 'documents', 'decoded equal', 'median', 'worst', 'best'],
    nodes.modality.lossless.map((row) => [
      row.kind,
      String(row.documents),
      String(row.decoded_equal),
      percent(row.saved_median),
      percent(row.saved_worst),
      percent(row.saved_best),
    ]),
  );
  yield '';
  yield* materialTables(nodes.modality.material);
}

function number(value: number): string {
  return value.toLocaleString('en');
}

type Nodes = Results['nodes'];

/** Groups in the order of the table: each node, its wordings, then the kinds of material. */
function keptRows({ semantic, temporal, modality }: Nodes): string[][] {
  const all = [
    ...semantic.tiers.map((row) => ({ ...row, group: 'facts' })),
    ...semantic.by_wording.map((row) => ({ ...row, group: `facts, ${row.kind}` })),
    ...temporal.tiers.map((row) => ({ ...row, group: 'facts in time' })),
    ...temporal.by_wording.map((row) => ({ ...row, group: `facts in time, ${row.kind}` })),
    ...modality.by
      .filter(({ tier }) => tier === 'extractive' || tier === 'bm25')
      .map((row) => ({ ...row, group: row.kind })),
  ];
  return [...Map.groupBy(all, ({ group, tier }) => `${group}\n${tier}`)].map(([key, own]) => {
    const [group = '', tier = ''] = key.split('\n');
    const cells = [0.5, 0.25, 0.1].map((budget) => {
      const row = own.find((one) => one.budget === budget);
      if (row === undefined) return '–';
      const [low, high] = row.kept_ci95;
      const over = row.over_budget > 0 ? ` (${row.over_budget} over)` : '';
      return `${percent(row.kept)} [${percent(low)}, ${percent(high)}]${over}`;
    });
    return [group, tier, ...cells];
  });
}

function pairedRows({ semantic, temporal, modality }: Nodes): string[][] {
  const all = [
    ...semantic.paired.map((row) => ({ ...row, group: 'facts' })),
    ...temporal.paired.map((row) => ({ ...row, group: 'facts in time' })),
    ...modality.paired_by_wording.map((row) => ({ ...row, group: `all, ${row.kind}` })),
    ...modality.paired_by.map((row) => ({ ...row, group: row.kind })),
  ];
  return [...Map.groupBy(all, ({ group }) => group)].map(([group, own]) => {
    const cells = [0.5, 0.25, 0.1].map((budget) => {
      const row = own.find((one) => one.budget === budget);
      return row === undefined
        ? '–'
        : `${points(row.difference)} [${points(row.ci95[0])}, ${points(row.ci95[1])}]`;
    });
    return [group, String(own[0]?.cases ?? 0), ...cells];
  });
}
