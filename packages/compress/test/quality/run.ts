/**
 * Prints how often the text that answers a question survives, on the development sets of the ranking: by set and
 * budget, each tier's percentage, and in brackets the first tier less the last with its interval at 95%.
 * `node packages/compress/test/quality/run.ts [seed] [conversations] [sets] [tiers] [scene files]`
 */
import {
  type Case,
  conversations,
  halves,
  hopCases,
  logCases,
  needleCases,
  recordCases,
  shapes,
  traceCases,
} from './sets.ts';
import { interval, type Outcome, outcomesOf, type Subject, shareKept, subjects } from './survival.ts';

const BUDGETS = [0.5, 0.25, 0.1];

const [seed = '1', count = '2', sets = 'lines', only = subjects.join(), files = halves.tune.join()] =
  process.argv.slice(2);
const chosen = sets.split(',');
const tiers = subjects.filter((subject) => only.split(',').includes(subject));
const size = Number(count);

const cases: Case[] = [
  ...conversations(
    Number(seed),
    size,
    chosen.filter((shape) => shape in shapes),
    files.split(','),
  ),
  ...(chosen.includes('needles') ? needleCases(Number(seed), size * 10) : []),
  ...(chosen.includes('hops') ? hopCases(Number(seed), size * 10) : []),
  ...(chosen.includes('logs') ? logCases(Number(seed), size * 10) : []),
  ...(chosen.includes('records') ? recordCases(Number(seed), size) : []),
  ...(chosen.includes('traces') ? traces(Number(seed), size) : []),
];

function traces(seed: number, count: number): Case[] {
  const read = [
    ...needleCases(seed, 4),
    ...hopCases(seed, 4),
    ...logCases(seed, 5),
    ...conversations(seed, 1, ['lines'], files.split(',')),
  ];
  return traceCases(seed, count * 3, read);
}

const percent = (value: number): string => (value * 100).toFixed(1);

function cell(all: readonly Outcome[]): string {
  const of = (subject: Subject | undefined): Outcome[] => all.filter((one) => one.subject === subject);
  const rates = tiers.map((tier) => percent(shareKept(of(tier))).padStart(5));
  const [difference, low, high] = interval(of(tiers[0]), of(tiers.at(-1)));
  const used = of(tiers[0]).map(({ used }) => used);
  return `${rates.join(' ')} (${percent(difference)} [${percent(low)}, ${percent(high)}]) used ${percent(Math.min(...used))} to ${percent(Math.max(...used))}`;
}

const outcomes = BUDGETS.map((budget) => outcomesOf(cases, tiers, budget));
process.stdout.write(`${BUDGETS.join(' | ')}: ${tiers.join(', ')}\n`);
for (const set of new Set(cases.map((one) => one.set))) {
  const cells = outcomes.map((all) => cell(all.filter((one) => one.set === set)));
  process.stdout.write(`${set.padEnd(22)} ${cells.join(' | ')}\n`);
}
