import { partTable } from '../material/print.ts';
import type { Results, Row } from './results.ts';

const percent = (share: number): string => (share * 100).toFixed(1);
const signed = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)}`;

/** Yields the results as a table for people. */
export function* tableOf({ corpus, generated_with: made, nodes }: Results): Generator<string> {
  yield `${corpus.documents} documents, ${corpus.cases} questions, ${corpus.tokens} tokens (${made.tokenizer}); corpus ${corpus.sha256.slice(0, 16)}…`;
  for (const [name, node] of Object.entries(nodes)) {
    yield '';
    yield `${name}: ${node.about}`;
    yield* rows([...node.tiers.map((row) => ({ kind: 'all', ...row })), ...node.by, ...node.by_wording]);
    yield '';
    const all = node.paired.map((paired) => ({ kind: 'all', ...paired }));
    for (const { kind, a, b, budget, cases, difference, ci95, a_only, b_only } of [
      ...all,
      ...node.paired_by_wording,
    ]) {
      yield `  ${kind}: ${a} − ${b} at ${percent(budget)} %: ${signed(difference)} points [${signed(ci95[0])}, ${signed(ci95[1])}], ${cases} questions, only ${a} ${a_only}, only ${b} ${b_only}`;
    }
  }
  yield '';
  yield* partTable('others’ material, held out', nodes.modality.material.held_out);
  yield '';
  yield* partTable('others’ material, development', nodes.modality.material.development);
  yield '';
  yield 'lossless: share of tokens saved';
  yield `  ${'material'.padEnd(20)}${'documents'.padStart(10)}${'equal'.padStart(7)}${'median'.padStart(8)}${'worst'.padStart(8)}${'best'.padStart(8)}`;
  for (const row of nodes.modality.lossless) {
    yield `  ${row.kind.padEnd(20)}${String(row.documents).padStart(10)}${String(row.decoded_equal).padStart(7)}${percent(row.saved_median).padStart(8)}${percent(row.saved_worst).padStart(8)}${percent(row.saved_best).padStart(8)}`;
  }
}

function* rows(all: readonly ({ readonly kind: string } & Row)[]): Generator<string> {
  yield `  ${'kept, %'.padEnd(18)}${'tier'.padEnd(12)}${['50 %', '25 %', '10 %'].map((head) => head.padStart(22)).join('')}`;
  for (const [kind, own] of Map.groupBy(all, (row) => row.kind)) {
    for (const [tier, budgets] of Map.groupBy(own, (row) => row.tier)) {
      const cells = budgets.map(({ kept, kept_ci95: [low, high], over_budget: over }) =>
        `${percent(kept)} [${percent(low)}, ${percent(high)}]${over > 0 ? '*' : ' '}`.padStart(22),
      );
      yield `  ${kind.padEnd(18)}${tier.padEnd(12)}${cells.join('')}`;
    }
  }
  if (all.some(({ over_budget: over }) => over > 0)) yield '  * some over their budget, which count as lost';
}
