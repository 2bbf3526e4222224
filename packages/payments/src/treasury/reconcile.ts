import type { TokenChain } from '@tallystick/chain/evm';
import { TallyError } from '@tallystick/core';
import type { LedgerStore } from '@tallystick/ledger';
import { paidPosting } from '../payouts/postings.ts';
import type { PayoutRow, TreasuryStore } from '../treasury-store.ts';
import { chainAccount, OWNER, openingId, ownId } from './accounts.ts';
import { openPostings } from './chain-postings.ts';
import { bookedOf, Matcher, type Move, type Posting, sumOf } from './match.ts';
import { readMoves, type WatchedSince } from './moves.ts';
import { toNanoUsdc } from './units.ts';

/** One difference between ledger and chain. Amounts are base units, positive into the treasury. */
interface Difference {
  readonly kind: 'unposted_transfer' | 'posting_without_transfer' | 'amount_differs' | 'balance_differs';
  /** The chain's transaction; null where there is none. */
  readonly txHash: string | null;
  /** The ledger's posting; null where there is none. */
  readonly posting: string | null;
  readonly onChain: bigint;
  readonly inLedger: bigint;
}

export interface Reconciliation {
  readonly network: string;
  /** Lower case; every address that is or was watched. */
  readonly treasuries: readonly string[];
  /** The newest block that was read. */
  readonly block: number;
  /** Base units: what the treasury holds, what the ledger says, and what has yet to be confirmed. */
  readonly onChain: bigint;
  readonly inLedger: bigint;
  readonly pending: bigint;
  /** Pending transactions that moved money out and are of no payout. */
  readonly unknownPayments: readonly string[];
  readonly transfers: number;
  readonly postings: number;
  readonly differences: readonly Difference[];
}

interface ReconcileDependencies {
  readonly store: { readonly treasury: TreasuryStore; readonly ledger: LedgerStore };
  readonly token: Pick<TokenChain, 'network' | 'confirmations' | 'head' | 'transfers' | 'balanceOf'>;
  readonly treasury: string;
}

/**
 * Compares the ledger with the chain: every transfer from and to the treasury must have its posting, every posting its
 * transfer, and the balances must be equal. What is not confirmed yet, and so not posted, counts as pending.
 *
 * Both are read from their beginning, side by side and in parts, and what agrees is forgotten: what is held does not grow
 * with the number of transfers, but with those that differ. A payment that the ledger lacks is held to the end of both,
 * so none is missed.
 * @throws chain_unavailable
 */
export async function reconcile({ store, token, treasury }: ReconcileDependencies): Promise<Reconciliation> {
  const { network } = token;
  const head = await token.head();
  const watched = await watchedBy(store.treasury, { network, treasury, head: head.number });
  let onChain = 0n;
  for (const { address } of watched) onChain += await token.balanceOf(address, head.number);
  const matcher = new Matcher();
  const openings = watched.map(({ address }) => openingId(network, address));
  const ledger = openPostings(store, { network, openings, matcher });
  let transfers = 0;
  for await (const moves of readMoves(token, watched, head.number)) {
    for (const move of moves) matcher.addMove(move);
    transfers += moves.length;
    await ledger.catchUp();
  }
  // The ledger is read last: it may since have gained what the chain had, but loses nothing.
  const underWay = await transactionsUnderWay(store.treasury, network);
  await ledger.finish();
  const { sum: inLedger, count: postings, unknown } = ledger.soFar();

  const differences: Difference[] = [];
  let pending = 0n;
  const unknownPayments: string[] = [];
  const strays = [...unknown, ...[...matcher.postings.values()].flat()];
  for (const pair of matcher.moves.values()) {
    const { txHash, height, amount } = pair.move;
    const { booked, foreign } = bookedOf(pair);
    strays.push(...foreign);
    const isUnderWay = underWay.has(txHash);
    const isPending = height > head.number - token.confirmations + 1 || isUnderWay;
    if (booked.length === 0 && isPending) {
      pending += amount;
      if (amount < 0n && !isUnderWay) unknownPayments.push(txHash);
    } else if (sumOf(booked) !== amount) differences.push(differs(pair.move, booked));
  }
  differences.push(...strays.map(withoutTransfer));
  if (differences.length === 0 && inLedger + pending !== onChain)
    differences.push({ kind: 'balance_differs', txHash: null, posting: null, onChain, inLedger });
  const treasuries = watched.map(({ address }) => address);
  const sums = { onChain, inLedger, pending };
  return {
    network,
    treasuries,
    block: head.number,
    ...sums,
    unknownPayments,
    transfers,
    postings,
    differences,
  };
}

/** Every watched address with the first block that counts; an address that is not watched yet counts from now on. */
async function watchedBy(
  store: TreasuryStore,
  { network, treasury, head }: { readonly network: string; readonly treasury: string; readonly head: number },
): Promise<WatchedSince[]> {
  const known = (await store.cursors(network)).map(({ treasury: address, firstHeight }) => ({
    address,
    fromBlock: firstHeight + 1,
  }));
  const address = treasury.toLowerCase();
  return known.some((one) => one.address === address) ? known : [...known, { address, fromBlock: head + 1 }];
}

/**
 * Books what a transaction moved by which the owner took money out of a treasury by hand.
 * @param now Unix milliseconds
 * @throws invalid_field unless it moved money out and has no posting
 */
export async function bookOwn(
  dependencies: ReconcileDependencies,
  txHash: string,
  now: number,
): Promise<void> {
  const { store, token } = dependencies;
  const { differences } = await reconcile(dependencies);
  const found = differences.find((one) => one.txHash === txHash && one.kind === 'unposted_transfer');
  if (found === undefined || found.onChain >= 0n) {
    throw new TallyError('invalid_field', 'That is not an unbooked transaction out of a treasury.', {
      field: 'tx_hash',
    });
  }
  const amount = toNanoUsdc(found.onChain);
  await store.ledger.post({
    id: ownId(token.network, txHash),
    memo: 'taken out by the owner',
    at: Math.floor(now / 1000),
    entries: [
      { account: chainAccount(token.network), amount: -amount },
      { account: OWNER, amount },
    ],
  });
}

/**
 * Refuses to pay out while the treasury has made a payment that the books lack, confirmed or not: after restoring a
 * backup, or with a standby that lacks the newest rows, it could be paid twice. A payment is known by its posting, or by a
 * stored transaction of a payout that is under way. All of the chain is read for this from the first watched block on,
 * since the books of a backup cannot tell how far they once were compared. A payment that is in no block yet is refused
 * where its nonce would be used (`payOut`).
 * @throws unavailable
 */
export async function requireKnownPayments(dependencies: ReconcileDependencies): Promise<void> {
  const { differences, unknownPayments } = await reconcile(dependencies);
  const unposted = differences.find(({ kind, onChain }) => kind === 'unposted_transfer' && onChain < 0n);
  const unknown = unposted?.txHash ?? unknownPayments[0];
  if (unknown === undefined) return;
  throw new TallyError(
    'unavailable',
    `The treasury has paid out in ${unknown} that is not in the books. Were they restored from a backup? Nothing was sent. If you made the transfer yourself: tally ledger reconcile --own <tx>.`,
  );
}

/**
 * Books a payout as paid by a transaction that the books lack. The transaction must have moved exactly the payout's
 * amount from the treasury to its address.
 * @param now Unix milliseconds
 * @throws invalid_field unless it has; unavailable where the payout is not waiting
 */
export async function bookPaid(
  dependencies: ReconcileDependencies & { readonly token: Pick<TokenChain, 'settled'> },
  payout: PayoutRow,
  { txHash, now }: { readonly txHash: string; readonly now: number },
): Promise<void> {
  const { store, token, treasury } = dependencies;
  const { differences } = await reconcile(dependencies);
  const isUnknown = differences.some(
    (one) => one.txHash === txHash && one.kind === 'unposted_transfer' && one.onChain === -payout.amount,
  );
  const moved = { from: treasury, to: payout.address, amount: payout.amount };
  const isHere = payout.network === token.network;
  if (!isHere || !isUnknown || (await token.settled(txHash, moved)) !== 'confirmed') {
    throw new TallyError(
      'invalid_field',
      `That transaction did not pay ${payout.id}, or is already booked.`,
      {
        field: 'tx_hash',
      },
    );
  }
  const at = Math.floor(now / 1000);
  const ended = await store.treasury.endPayout(
    { id: payout.id, txHash, height: null, note: 'booked by hand' },
    { from: 'waiting', to: 'paid', at },
    paidPosting(payout, at),
  );
  if (ended === 'overtaken') throw new TallyError('unavailable', `${payout.id} is no longer waiting.`);
}

/** Transactions of payouts that are signed and whose end is not posted. */
async function transactionsUnderWay(treasury: TreasuryStore, network: string): Promise<Set<string>> {
  const payouts = await treasury.payoutsUnderWay(network);
  const attempts = await Promise.all(payouts.map(({ id }) => treasury.payoutAttempts(id)));
  return new Set(attempts.flat().map(({ txHash }) => txHash));
}

function differs({ txHash, amount }: Move, booked: readonly Posting[]): Difference {
  const kind = booked.length === 0 ? 'unposted_transfer' : 'amount_differs';
  const posting = booked.map(({ id }) => id).join(', ') || null;
  return { kind, txHash, posting, onChain: amount, inLedger: sumOf(booked) };
}

function withoutTransfer({ id, amount }: Posting): Difference {
  return { kind: 'posting_without_transfer', txHash: null, posting: id, onChain: 0n, inLedger: amount };
}
