import type { ApiKeyRow } from '@tallystick/callers';
import type { LedgerPosting } from '@tallystick/ledger';
import type {
  OrderRow,
  PayoutAttempt,
  PayoutRow,
  PayoutState,
  TransferEnding,
  TransferRow,
  TreasuryStore,
  Watched,
} from '@tallystick/payments';
import { all, run, type Work } from './database-work.ts';
import { post } from './ledger-transactions.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Rolls back a transaction whose starting state another one has changed. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** Rolls back a transaction that the caller's balance does not cover. */
export class Uncovered extends Error {
  override readonly name = 'Uncovered';
  readonly available: bigint;

  constructor(available: bigint) {
    super('The balance does not cover the amount.');
    this.available = available;
  }
}

/** See {@link TreasuryStore.record}. */
export function* record(
  database: SqlDatabase,
  watched: Watched,
  transfers: readonly TransferRow[],
  { from, to }: Parameters<TreasuryStore['record']>[2],
  opening: LedgerPosting | null,
): Work<void> {
  const { queries } = database;
  const moved =
    from === null
      ? yield* run(queries.startCursor, { ...watched, ...to })
      : yield* run(queries.moveCursor, { ...watched, from: from.height, fromHash: from.blockHash, ...to });
  if (moved === 0) throw new Overtaken();
  for (const transfer of transfers) yield* run(queries.insertTransfer, transfer);
  if (opening !== null) yield* postAll(database, opening);
}

/** See {@link TreasuryStore.end}. */
export function* end(database: SqlDatabase, ending: TransferEnding): Work<'ended' | 'ended_before'> {
  const { queries } = database;
  const { claims, order, apiKey, renews, refund, posting } = ending;
  if ((yield* run(queries.endTransfer, ending)) === 0) return 'ended_before';
  if (claims !== undefined) yield* changeOne(run(queries.payOrder, claims));
  if (order !== undefined) yield* changeOne(run(queries.insertOrder, order));
  if (renews !== undefined) yield* changeOne(run(queries.renewApiKey, renews));
  if (apiKey !== undefined) yield* run(queries.insertApiKey, apiKey);
  if (refund !== undefined) yield* changeOne(run(queries.insertPayout, refund));
  if (posting !== null) yield* postAll(database, posting);
  return 'ended';
}

/** See {@link TreasuryStore.issueOrder}. */
export function* issueOrder(
  { queries }: SqlDatabase,
  order: OrderRow,
  apiKey: ApiKeyRow,
): Work<'issued' | 'issued_before'> {
  if ((yield* run(queries.insertOrder, order)) === 0) return 'issued_before';
  yield* run(queries.insertApiKey, apiKey);
  return 'issued';
}

/** See {@link TreasuryStore.requestPayout}. */
export function* requestPayout(
  database: SqlDatabase,
  payout: PayoutRow,
  posting: LedgerPosting,
): Work<'requested' | 'requested_before'> {
  if ((yield* run(database.queries.insertPayout, payout)) === 0) return 'requested_before';
  yield* postAll(database, posting);
  return 'requested';
}

/** See {@link TreasuryStore.startPayout}. */
export function* startPayout({ queries }: SqlDatabase, attempt: PayoutAttempt): Work<void> {
  yield* changeOne(run(queries.startPayout, attempt));
  const earlier = yield* all(queries.payoutAttempts, { id: attempt.payout });
  yield* run(queries.insertPayoutAttempt, { ...attempt, attempt: earlier.length + 1 });
}

/** See {@link TreasuryStore.addPayoutAttempt}. */
export function* addPayoutAttempt({ queries }: SqlDatabase, attempt: PayoutAttempt): Work<void> {
  const [payout] = yield* all(queries.payoutById, { id: attempt.payout });
  if (payout?.state !== 'paying' || payout.nonce !== attempt.nonce) throw new Overtaken();
  const earlier = yield* all(queries.payoutAttempts, { id: attempt.payout });
  yield* run(queries.insertPayoutAttempt, { ...attempt, attempt: earlier.length + 1 });
}

/** See {@link TreasuryStore.endPayout}. */
export function* endPayout(
  database: SqlDatabase,
  payout: Pick<PayoutRow, 'id' | 'txHash' | 'height' | 'note'>,
  move: { readonly from: PayoutState; readonly to: PayoutState; readonly at: number },
  posting: LedgerPosting,
): Work<void> {
  yield* changeOne(run(database.queries.endPayout, { ...payout, ...move }));
  yield* postAll(database, posting);
}

function* changeOne(step: Work<number>): Work<void> {
  if ((yield* step) !== 1) throw new Overtaken();
}

function* postAll(database: SqlDatabase, posting: LedgerPosting): Work<void> {
  const outcome = yield* post(database, posting);
  if (typeof outcome !== 'string') throw new Uncovered(outcome.available);
}
