import { measure } from './quality/results.ts';
import type { Report, Row } from './report.ts';

/** The results of `npm run benchmark` in the form of the other suites; it writes no file. */
export async function compressionQuality(): Promise<Report> {
  const { corpus, generated_with: made, nodes } = measure();
  const rows = Object.entries(nodes).flatMap(([node, { tiers, paired }]): Row[] => [
    ...tiers.map(({ tier, budget, kept }) => ({
      name: `${node}: ${tier} at ${budget * 100} % of the tokens`,
      value: kept * 100,
      unit: '% kept',
    })),
    ...paired.map(({ a, b, budget, difference, ci95: [low, high] }) => ({
      name: `${node}: ${a} − ${b} at ${budget * 100} %, 95 % interval ${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}`,
      value: difference * 100,
      unit: 'points',
    })),
  ]);
  return {
    title: 'Compression: what it keeps',
    method: `${corpus.cases} questions on ${corpus.documents} documents of bench/corpus (${corpus.tokens} tokens by ${made.tokenizer}); kept means every fact word for word within the budget. All rows and intervals: npm run benchmark.`,
    rows,
  };
}
