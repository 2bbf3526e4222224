import { firstLineSince, type LedgerStore, type StatementLine } from '@tallystick/ledger';
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
