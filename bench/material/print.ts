import type { measurePart } from './measure.ts';
import type { MaterialRow } from './rows.ts';

export type PartRows = ReturnType<typeof measurePart>['rows'];

const percent = (share: number): string => (share * 100).toFixed(1);

/** Yields the rows of a part as a table for people. */
export function* partTable(name: string, part: PartRows): Generator<string> {
  yield `${name}: ${part.questions} questions on ${part.files} files of ${part.sources} packages, ${part.tokens} tokens; ${part.sha256.slice(0, 16)}…`;
  yield `  ${'kept at 50, 25 and 10 %'.padEnd(54)}${['questions', 'extractive', 'bm25', 'lines', 'tail', 'random', 'stems'].map((head) => head.padStart(20)).join('')}`;
  for (const row of [part.all, ...part.by, ...part.by_rule, ...part.survive]) yield lineOf(row);
  yield '  lossless, saved: median, worst, best; decoded equal';
  for (const row of part.lossless)
    yield `  ${row.kind.padEnd(30)}${[row.saved_median, row.saved_worst, row.saved_best].map((share) => percent(share).padStart(8)).join('')}  ${row.decoded_equal} of ${row.documents}`;
}

function lineOf({ kind, cases, tiers }: MaterialRow): string {
  const cells = tiers.map(({ kept, over_budget: over }) =>
    kept
      .map((share, i) => `${percent(share)}${(over[i] ?? 0) > 0 ? '*' : ''}`.padStart(6))
      .join(' ')
      .padStart(20),
  );
  return `  ${kind.padEnd(54)}${String(cases).padStart(20)}${cells.join('')}`;
}
