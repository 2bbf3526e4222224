import { firstLineSince, type LedgerStore, providerAccount } from '@tallystick/ledger';
import type { InvoiceLine } from './invoice.ts';

const PAGE = 1_000;
/** Milliseconds. A line may have been written after others that are later: a receipt is older than its settlement. */
const DAY = 86_400_000;

/**
 * What the ledger books to a provider, by model and day. Lines of other days are read for one day around those that are asked for,
 * and no others.
 * @param days the first and the last: `2026-11-23`
 */
export async function bookedTo(
  ledger: Pick<LedgerStore, 'balance' | 'statement'>,
  provider: string,
  { first, last }: { readonly first: string; readonly last: string },
): Promise<InvoiceLine[]> {
  const account = providerAccount(provider);
  const sums = new Map<string, InvoiceLine>();
  const until = Date.parse(last) + 2 * DAY;
  const { lines: count } = await ledger.balance(account);
  let after = (await firstLineSince(ledger, account, count, Date.parse(first) - DAY)) - 1;
  for (;;) {
    const lines = await ledger.statement(account, { after, limit: PAGE });
    for (const { at, memo, amount } of lines) {
      const day = new Date(at * 1000).toISOString().slice(0, 10);
      if (day < first || day > last) continue;
      const model = memo.replace(`${provider}/`, '');
      const key = `${day} ${model}`;
      sums.set(key, { day, model, amount: (sums.get(key)?.amount ?? 0n) + amount });
    }
    const newest = lines.at(-1);
    if (newest === undefined || lines.length < PAGE || newest.at * 1000 >= until) return [...sums.values()];
    after = newest.line;
  }
}
