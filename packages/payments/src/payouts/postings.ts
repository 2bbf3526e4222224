import type { LedgerPosting } from '@tallystick/ledger';
import { REVENUE } from '@tallystick/ledger';
import { chainAccount, REFUNDS, WITHDRAWALS } from '../treasury/accounts.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import type { PayoutKind, PayoutRow } from '../treasury-store.ts';

/** Where the money of a payout is from its request to its end. */
const ASIDE: Readonly<Record<PayoutKind, string>> = { refund: REFUNDS, withdrawal: WITHDRAWALS };

type Payout = Pick<PayoutRow, 'id' | 'kind' | 'network' | 'account' | 'amount'>;

/** Puts a withdrawal aside. `at` is in unix seconds, here and below. */
export function requestPosting({ id, kind, account, amount }: Payout, at: number): LedgerPosting {
  return posting(`requested:${id}`, `${kind} ${id}`, at, account, ASIDE[kind], amount);
}

export function paidPostingId(id: string): string {
  return `payout:${id}`;
}

/** What was put aside has left the treasury. */
export function paidPosting({ id, kind, network, amount }: Payout, at: number): LedgerPosting {
  return posting(paidPostingId(id), `${kind} ${id}`, at, ASIDE[kind], chainAccount(network), amount);
}

/** A refund that is dismissed is kept; a withdrawal that is rejected goes back. */
export function declinedPosting({ id, kind, account, amount }: Payout, at: number): LedgerPosting {
  const to = kind === 'refund' ? REVENUE : account;
  return posting(`declined:${id}`, `${kind} ${id} declined`, at, ASIDE[kind], to, amount);
}

function posting(
  id: string,
  memo: string,
  at: number,
  from: string,
  to: string,
  amount: bigint,
): LedgerPosting {
  const entries = [
    { account: from, amount: -toNanoUsdc(amount) },
    { account: to, amount: toNanoUsdc(amount) },
  ];
  return { id, memo, at, entries };
}
