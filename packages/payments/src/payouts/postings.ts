import type { LedgerPosting } from '@tallystick/ledger';
import { REVENUE } from '@tallystick/ledger';
import { chainAccount, REFUNDS, WITHDRAWALS } from '../treasury/accounts.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import type { PayoutKind, PayoutRow } from '../treasury-store.ts';

/** The account that holds the money of a payout from its request to its end. */
const ASIDE: Readonly<Record<PayoutKind, string>> = { refund: REFUNDS, withdrawal: WITHDRAWALS };

type Payout = Pick<PayoutRow, 'id' | 'kind' | 'network' | 'account' | 'amount'>;

/** The posting that holds the amount of a withdrawal. `at` is in unix seconds, here and below. */
export function requestPosting({ id, kind, account, amount }: Payout, at: number): LedgerPosting {
  return posting(`requested:${id}`, `${kind} ${id}`, at, account, ASIDE[kind], amount);
}

export function paidPostingId(id: string): string {
  return `payout:${id}`;
}

/** The posting of a payout that has left the treasury. */
export function paidPosting({ id, kind, network, amount }: Payout, at: number): LedgerPosting {
  return posting(paidPostingId(id), `${kind} ${id}`, at, ASIDE[kind], chainAccount(network), amount);
}

/** The posting of a declined payout: a dismissed refund becomes revenue; a rejected withdrawal returns to its account. */
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
