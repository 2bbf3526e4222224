import { hash } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import { callerAccount, EXTERNAL } from './accounts.ts';
import type { LedgerStore, NanoUsdc } from './ledger-store.ts';

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

/** Credits a caller with a payment. @throws invalid_field unless the amount is greater than 0 */
export async function creditCaller(
  { ledger }: { readonly ledger: LedgerStore },
  { caller, amount, reference, memo, now }: Credit,
): Promise<'posted' | 'posted_before'> {
  if (amount <= 0n) {
    throw new TallyError('invalid_field', 'The amount to credit must be greater than 0.', {
      field: 'amount',
    });
  }
  const outcome = await ledger.post({
    id: `credit:${hash('sha256', reference)}`,
    memo,
    at: Math.floor(now / 1000),
    entries: [
      { account: EXTERNAL, amount: -amount },
      { account: callerAccount(caller), amount },
    ],
  });
  if (typeof outcome === 'string') return outcome;
  throw new RangeError('A credit cannot take money from a caller.');
}
