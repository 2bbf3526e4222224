import { median } from './machine.ts';
import type { Row } from './report.ts';

/** Makes a row from the value of every round, with their median. */
export function row<Round>(
  rounds: readonly Round[],
  name: string,
  unit: string,
  of: (round: Round) => number,
  aim?: Row['aim'],
): Row {
  const values = rounds.map(of);
  return { name, unit, value: median(values), rounds: values, ...(aim === undefined ? {} : { aim }) };
}
