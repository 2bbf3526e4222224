import { aligned } from '../quality/aligned.ts';
import type { measureMaterial } from './measure.ts';
import type { PartRows } from './print.ts';
import type { MaterialRow } from './rows.ts';

const percent = (share: number): string => (share * 100).toFixed(1);
const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)}`;
const number = (value: number): string => value.toLocaleString('en');

/** The tables of the material that others wrote; kinds of material that lose most stand first. */
export function* materialTables({
  held_out: heldOut,
  development,
}: ReturnType<typeof measureMaterial>['material']): Generator<string> {
  yield `Material that others wrote, held out: ${sizeOf(heldOut)}; \`${heldOut.sha256.slice(0, 16)}…\`. Percent of the questions of which every fact is`;
  yield 'kept at 50 / 25 / 10 % of the tokens, the worst kinds first. BM25 is over lines, as anyone would write it. In brackets the interval at 25 %, drawn over packages:';
  yield '';
  yield* rowsTable([heldOut.all, ...heldOut.by], 'kind');
  yield '';
  yield 'The same questions by the rule that made them, and what must survive:';
  yield '';
  yield* rowsTable([...heldOut.by_rule, ...heldOut.survive], 'rule, or what must survive');
  yield '';
  yield `The development part, which may be read while working on the engine: ${sizeOf(development)}; \`${development.sha256.slice(0, 16)}…\`:`;
  yield '';
  yield* rowsTable([development.all, ...development.by, ...development.survive], 'kind');
  yield '';
  yield 'What the lossless tier saves of it, in percent of the tokens (kinds of which it saves nothing are left out):';
  yield '';
  yield* aligned(
    ['kind', 'part', 'files', 'decoded equal', 'median', 'worst', 'best'],
    [...losslessOf('held out', heldOut), ...losslessOf('development', development)],
  );
}

const sizeOf = ({ questions, files, sources, tokens }: PartRows): string =>
  `${number(questions)} questions on ${files} files of ${sources} packages, ${number(tokens)} tokens`;

function rowsTable(rows: readonly MaterialRow[], name: string): Iterable<string> {
  const head = [
    name,
    'packages',
    'questions',
    'extractive',
    'BM25',
    'BM25, stems',
    'extractive − BM25 at 25 %',
    'last',
    'random',
  ];
  return aligned(
    head,
    rows.map(({ kind, sources, cases, tiers, minus_lines: minus, minus_lines_ci95: spans }) => {
      const cell = (name: string): string => {
        const own = tiers.find(({ tier }) => tier === name);
        if (own === undefined) return '–';
        const over = own.over_budget.some((count) => count > 0)
          ? ` (${own.over_budget.join(' / ')} over)`
          : '';
        return `${own.kept.map(percent).join(' / ')}${over}`;
      };
      const [low = 0, high = 0] = tiers[0]?.kept_ci95[1] ?? [];
      const [least = 0, most = 0] = spans[1] ?? [];
      return [
        kind,
        String(sources),
        String(cases),
        `${cell('extractive')} [${percent(low)}, ${percent(high)}]`,
        cell('lines'),
        cell('stems'),
        minus.length === 0 ? '–' : `${points(minus[1] ?? 0)} [${points(least)}, ${points(most)}]`,
        cell('tail'),
        cell('random'),
      ];
    }),
  );
}

function losslessOf(part: string, { lossless }: PartRows): string[][] {
  return lossless
    .filter(({ kind, saved_best: best, saved_worst: worst }) => kind === 'all' || best !== 0 || worst !== 0)
    .map((row) => [
      row.kind,
      part,
      String(row.documents),
      String(row.decoded_equal),
      percent(row.saved_median),
      percent(row.saved_worst),
      percent(row.saved_best),
    ]);
}
