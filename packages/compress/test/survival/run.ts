/**
 * Prints how many of 2,000 prompts lose an instruction, by style, and for each kind of material whether the line that
 * is asked for stays and how much of the budget is used. `node packages/compress/test/survival/run.ts [prompts] [first seed]`
 */
import { BUDGETS, losses, materialLeft } from './losses.ts';
import { type MaterialKind, writers } from './material.ts';

const SEEDS = [1, 2, 3, 4, 5];
const count = Number(process.argv[2] ?? 2000);

const lost = losses(count, Number(process.argv[3] ?? 0));
const sum = Object.values(lost).reduce((all, one) => all + one, 0);
process.stdout.write(`${sum} of ${count} prompts lose an instruction\n`);
for (const [style, prompts] of Object.entries(lost))
  process.stdout.write(`  ${style.padEnd(26)} ${prompts}\n`);
for (const kind of Object.keys(writers) as MaterialKind[]) {
  const cells = BUDGETS.map((budget) => {
    const left = SEEDS.map((seed) => materialLeft(kind, budget, seed));
    const used = left.map((one) => Math.round(one.used * 100));
    return `${left.filter(({ kept }) => kept).length} of ${SEEDS.length}, ${Math.min(...used)} to ${Math.max(...used)} %`;
  });
  process.stdout.write(`${kind.padEnd(12)} ${cells.map((cell) => cell.padEnd(24)).join('')}\n`);
}
