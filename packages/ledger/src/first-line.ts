import type { LedgerStore } from './ledger-store.ts';

/**
 * The first line of an account that was written at or after a time (Unix milliseconds); the one after the last if there is
 * none. Lines are numbered from 1 without a gap, in the order of time, so it is found by halving and needs no index.
 * @param lines their number
 */
export async function firstLineSince(
  ledger: Pick<LedgerStore, 'statement'>,
  account: string,
  lines: number,
  time: number,
): Promise<number> {
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
