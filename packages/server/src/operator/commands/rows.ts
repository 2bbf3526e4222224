import { type Command, UsageError } from '@tallystick/cli/toolkit';

const MAX_ROWS = 10_000;
export const DEFAULT_ROWS = 1_000;

/** The rows that a listing of all, which grows without end, is about. */
export interface RowOptions {
  readonly all?: boolean;
  readonly limit?: number;
  /** Id of a row. */
  readonly before?: string;
  readonly json?: boolean;
}

/** Adds the options of {@link RowOptions}. @param ended what rows are that are not listed without --all */
export function withRowOptions(command: Command, ended: string, json: string): Command {
  return command
    .option('--all', `also those that ${ended}, the newest of them`)
    .option('--limit <count>', 'with --all, the most to list: 1 to 10000 (default: 1000)', rowLimit)
    .option('--before <id>', 'with --all, only those from before this one')
    .option('--json', json);
}

export function checkRowOptions({ all, limit, before }: RowOptions): void {
  if (all !== true && (limit !== undefined || before !== undefined))
    throw new UsageError('--limit and --before need --all.');
}

export function rowLimit(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_ROWS) return Number(text);
  throw new UsageError(`The limit is a number from 1 to ${MAX_ROWS}.`);
}
