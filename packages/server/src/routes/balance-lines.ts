import type { LedgerStore, StatementLine } from '@tallystick/ledger';
import { type ListPage, numberIn } from '../http/list.ts';

type Ledger = Pick<LedgerStore, 'balance' | 'statement'>;

/**
 * A page of an account's lines, newest first. Lines are numbered from 1 without a gap, in the order of time, so a period
 * is found by halving and needs no index.
 * @throws invalid_field for the cursor of another list
 */
export async function linesBefore(
  ledger: Ledger,
  account: string,
  { from, before, limit }: ListPage,
): Promise<StatementLine[]> {
  const { lines } = await ledger.balance(account);
  const first = await firstLineSince(ledger, account, lines, from);
  const end = Math.min(
    numberIn(before) ?? (await firstLineSince(ledger, account, lines, before.at)),
    lines + 1,
  );
  const after = Math.max(first, end - limit) - 1;
  if (after >= end - 1) return [];
  return (await ledger.statement(account, { after, limit: end - 1 - after })).toReversed();
}

/** The first line that was written at or after a time (Unix milliseconds); the one after the last if there is none. */
async function firstLineSince(ledger: Ledger, account: string, lines: number, time: number): Promise<number> {
  const isEarlier = async (line: number): Promise<boolean> => {
    const [row] = await ledger.statement(account, { after: line - 1, limit: 1 });
    return row === undefined || row.at * 1000 < time;
  };
  if (time === 0) return 1;
  if (lines === 0 || (await isEarlier(lines))) return lines + 1;
  let [low, high] = [1, lines];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isEarlier(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
