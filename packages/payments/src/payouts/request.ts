import { hash, randomUUID } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import type { IdempotencyRecord } from '@tallystick/kit';
import { keyReusedError } from '@tallystick/kit';
import type { NanoUsdc } from '@tallystick/ledger';
import { callerAccount, formatUsdc } from '@tallystick/ledger';
import { baseUnitsOf } from '../treasury/units.ts';
import { type PayoutRow, type TreasuryStore, UNPAID } from '../treasury-store.ts';
import { declinedPosting, requestPosting } from './postings.ts';

export interface WithdrawalRequest {
  readonly did: string;
  readonly network: string;
  /** Lower case. */
  readonly address: string;
  readonly amount: NanoUsdc;
  readonly minimum: NanoUsdc;
  readonly idempotency: IdempotencyRecord | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Requests a withdrawal of what a DID has earned, for the operator to approve. The same `Idempotency-Key` requests it
 * once.
 * @throws invalid_field, insufficient_balance, idempotency_key_reused
 */
export async function requestWithdrawal(
  { treasury }: { readonly treasury: TreasuryStore },
  { did, network, address, amount, minimum, idempotency, now }: WithdrawalRequest,
): Promise<PayoutRow> {
  const units = baseUnitsOf(amount);
  if (units === null || amount < minimum) {
    throw new TallyError(
      'invalid_field',
      `A withdrawal must be at least ${formatUsdc(minimum)} USDC, with at most 6 decimals.`,
      { field: 'amount' },
    );
  }
  const createdAt = Math.floor(now / 1000);
  const payout: PayoutRow = {
    id: withdrawalId(idempotency),
    kind: 'withdrawal',
    state: 'waiting',
    network,
    account: callerAccount(did),
    address,
    amount: units,
    reason: null,
    transfer: null,
    createdAt,
    ...UNPAID,
  };
  const outcome = await treasury.requestPayout(payout, requestPosting(payout, createdAt));
  if (outcome === 'requested') return payout;
  if (outcome !== 'requested_before') throw uncovered(amount, outcome.available);
  const earlier = await treasury.payout(payout.id);
  const same = earlier?.address === address && earlier.amount === units && earlier.account === payout.account;
  if (!same) throw keyReusedError();
  return earlier;
}

/**
 * The id of a withdrawal. It follows from the idempotency key, so that a withdrawal is not repeated after its record
 * was purged.
 */
function withdrawalId(idempotency: IdempotencyRecord | undefined): string {
  const name = idempotency === undefined ? randomUUID() : `withdrawal ${idempotency.scope}`;
  return `wd_${hash('sha256', name).slice(0, 32)}`;
}

function uncovered(amount: NanoUsdc, available: NanoUsdc): TallyError {
  return new TallyError(
    'insufficient_balance',
    `The withdrawal is of ${formatUsdc(amount)} USDC, and only ${formatUsdc(available)} USDC are available.`,
  );
}

/**
 * Dismisses a refund, whose amount the service then keeps, or rejects a withdrawal, whose amount returns to its
 * account.
 * @param now Unix milliseconds
 * @throws unavailable unless it is waiting
 */
export async function declinePayout(
  { treasury }: { readonly treasury: TreasuryStore },
  payout: PayoutRow,
  note: string,
  now: number,
): Promise<void> {
  const at = Math.floor(now / 1000);
  const outcome = await treasury.endPayout(
    { id: payout.id, txHash: null, height: null, note },
    { from: 'waiting', to: 'declined', at },
    declinedPosting(payout, at),
  );
  if (outcome === 'ended') return;
  throw new TallyError(
    'unavailable',
    `${payout.id} is no longer waiting: it has been paid, or is being paid.`,
  );
}
