import { hash } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import { callerAccount, EXTERNAL } from './accounts.ts';
import { firstLineSince } from './first-line.ts';
import type { LedgerStore, NanoUsdc } from './ledger-store.ts';
import { formatUsdc } from './money.ts';

/** Money that an operator credits to a caller. */
export interface Credit {
  /** The public id of an API key, or a DID. */
  readonly caller: string;
  readonly amount: NanoUsdc;
  /** Name of the payment, which is credited only once. */
  readonly reference: string;
  readonly memo: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Credits a caller with a payment.
 * @throws invalid_field unless the amount is greater than 0, and where the reference was used for another amount or caller
 */
export async function creditCaller(
  { ledger }: { readonly ledger: LedgerStore },
  { caller, amount, reference, memo, now }: Credit,
): Promise<'posted' | 'posted_before'> {
  if (amount <= 0n) {
    throw new TallyError('invalid_field', 'The amount to credit must be greater than 0.', {
      field: 'amount',
    });
  }
  const id = `credit:${hash('sha256', reference)}`;
  const account = callerAccount(caller);
  const outcome = await ledger.post({
    id,
    memo,
    at: Math.floor(now / 1000),
    entries: [
      { account: EXTERNAL, amount: -amount },
      { account, amount },
    ],
  });
  if (typeof outcome !== 'string') throw new RangeError('A credit cannot take money from a caller.');
  if (outcome === 'posted_before') {
    const before = await amountOf(ledger, account, id);
    if (before !== amount) {
      const usedFor = before === null ? 'another account' : `${formatUsdc(before)} USDC to this account`;
      throw new TallyError(
        'invalid_field',
        `The reference ${reference} was already used for ${usedFor}. Nothing was credited: give another reference.`,
        { field: 'reference' },
      );
    }
  }
  return outcome;
}

const PAGE = 100;
/** In seconds: the lines of a statement are at most a day out of the order of their times, since a receipt is older than its settlement. */
const DAY = 86_400;

/**
 * What a posting credited to an account; null where it is not in its statement. Of the statement only a day on both sides of
 * the posting is read.
 */
async function amountOf(ledger: LedgerStore, account: string, posting: string): Promise<NanoUsdc | null> {
  const at = await ledger.postedAt(posting);
  if (at === null) return null;
  const { lines: count } = await ledger.balance(account);
  const first = await firstLineSince(ledger, account, count, Math.max(0, at - DAY) * 1000);
  for (let after = first - 1; ; after += PAGE) {
    const lines = await ledger.statement(account, { after, limit: PAGE });
    const found = lines.find((line) => line.posting === posting);
    if (found !== undefined) return found.amount;
    const last = lines.at(-1);
    if (last === undefined || lines.length < PAGE || last.at > at + DAY) return null;
  }
}
