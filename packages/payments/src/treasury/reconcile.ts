import type { Block, TokenChain } from '@tallystick/chain/evm';
import { TallyError } from '@tallystick/core';
import type { LedgerStore } from '@tallystick/ledger';
import { paidPosting } from '../payouts/postings.ts';
import type { PayoutRow, TreasuryCursor, TreasuryMark, TreasuryStore } from '../treasury-store.ts';
import { chainAccount, OWNER, openingId, ownId } from './accounts.ts';
import { openPostings, type ReadPostings } from './chain-postings.ts';
import { comparisonOf, newComparison, scopeOf, writeComparison } from './marks.ts';
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
  /** The block after which the reading began, of an earlier comparison; null where all was read. */
  readonly since: number | null;
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
  readonly token: Pick<
    TokenChain,
    'network' | 'usdc' | 'confirmations' | 'head' | 'block' | 'transfers' | 'balanceOf'
  >;
  readonly treasury: string;
}

/**
 * Compares the ledger with the chain: every transfer from and to the treasury must have its posting, every posting its
 * transfer, and the balances must be equal. What is not confirmed yet, and so not posted, counts as pending.
 *
 * Both are read side by side and in parts, and what agrees is forgotten: what is held does not grow with the number of
 * transfers, but with those that differ. A payment that the ledger lacks is held to the end of both, so none is missed.
 *
 * What is left of the confirmed blocks is stored with their last block, as a mark, where the transfers add up to the
 * balance. The next comparison goes on from there while that block is in the chain and the books have what was read of
 * them; otherwise it begins anew.
 * @param options.all reads all from the first watched block on, whatever was compared before
 * @throws chain_unavailable
 */
export async function reconcile(
  dependencies: ReconcileDependencies,
  { all = false }: { readonly all?: boolean } = {},
): Promise<Reconciliation> {
  const { store, token } = dependencies;
  const reading = await readBoth(dependencies, all);
  const { head, watched, since, onChain, transfers, known, ledger, matcher, underWay, mark } = reading;
  const confirmed = head.number - token.confirmations + 1;
  const differences: Difference[] = [];
  let pending = 0n;
  const unknownPayments: string[] = [];
  const strays = [...ledger.unknown, ...[...matcher.postings.values()].flat()];
  for (const pair of matcher.moves.values()) {
    const { txHash, height, amount } = pair.move;
    const { booked, foreign } = bookedOf(pair);
    strays.push(...foreign);
    const isUnderWay = underWay.has(txHash);
    const isPending = height > confirmed || isUnderWay;
    if (booked.length === 0 && isPending) {
      pending += amount;
      if (amount < 0n && !isUnderWay) unknownPayments.push(txHash);
    } else if (sumOf(booked) !== amount) differences.push(differs(pair.move, booked));
  }
  // What was posted since the head was read may be of a later block.
  const later = strays.filter(({ line }) => line > known);
  differences.push(...strays.filter(({ line }) => line <= known).map(withoutTransfer));
  const inLedger = ledger.sum - sumOf(later);
  const explained = differences.reduce((sum, one) => sum + one.onChain - one.inLedger, inLedger + pending);
  if (explained === onChain && mark !== null) await store.treasury.putMark(token.network, mark);
  if (explained !== onChain && differences.length === 0)
    differences.push({ kind: 'balance_differs', txHash: null, posting: null, onChain, inLedger });
  return {
    network: token.network,
    treasuries: watched.map(({ address }) => address),
    block: head.number,
    since,
    onChain,
    inLedger,
    pending,
    unknownPayments,
    transfers,
    postings: ledger.line - later.length,
    differences,
  };
}

/** What was read of the chain and of the books. */
interface Reading {
  readonly head: Block;
  readonly watched: readonly WatchedSince[];
  /** Height of the mark from which the reading went on, or null. */
  readonly since: number | null;
  /** Base units that the watched addresses hold at the head. */
  readonly onChain: bigint;
  /** Number of transactions. */
  readonly transfers: number;
  /** The account's last line before the head was read. */
  readonly known: number;
  readonly ledger: ReadPostings;
  readonly matcher: Matcher;
  /** Transactions of payouts that are under way. */
  readonly underWay: ReadonlySet<string>;
  /** The mark that fits, or null where too much is left for one. */
  readonly mark: TreasuryMark | null;
}

async function readBoth({ store, token, treasury }: ReconcileDependencies, all: boolean): Promise<Reading> {
  const { network } = token;
  const stored = all ? null : await store.treasury.mark(network);
  // Read before the head, so that none of these postings is of a later block.
  const { lines: known } = await store.ledger.balance(chainAccount(network));
  const head = await token.head();
  const cursors = await store.treasury.cursors(network);
  const watched = watchedBy(cursors, { treasury, head: head.number });
  let onChain = 0n;
  for (const { address } of watched) onChain += await token.balanceOf(address, head.number);

  const earlier = stored === null || stored.height > head.number ? null : stored;
  // Read before the mark's block is looked up, and again at the end: between the two the chain up to it is one.
  const last = await blockAt(token, Math.max(0, earlier?.height ?? 0, head.number - token.confirmations + 1));
  const scope = scopeOf(token.usdc, cursors);
  const found = earlier && (await comparisonOf(earlier, scope, { token, ledger: store.ledger }));
  const since = found && earlier ? earlier.height : null;
  const begin = found ?? newComparison(scope);
  let { transfers } = begin;
  const matcher = new Matcher(begin);
  const openings = watched.map(({ address }) => openingId(network, address));
  const ledger = openPostings(store, { network, openings, matcher, begin, known });
  const readBlocks = async (from: number, to: number): Promise<void> => {
    for await (const moves of readMoves(token, watched, { from, to })) {
      for (const move of moves) matcher.addMove(move);
      transfers += moves.length;
      await ledger.catchUp();
    }
  };
  await readBlocks(since === null ? 0 : since + 1, last.number);
  await ledger.readTo(known);
  const state = writeComparison({ ...ledger.soFar(), ...matcher.held(), scope, transfers });
  await readBlocks(last.number + 1, head.number);
  if ((await token.block(last.number))?.hash !== last.hash)
    throw new TallyError('chain_unavailable', 'The chain was reorganised while it was read.');
  const underWay = await transactionsUnderWay(store.treasury, network);
  // The ledger is read last: it may since have gained what the chain had, but loses nothing.
  await ledger.readTo(Number.POSITIVE_INFINITY);
  const mark = state === null ? null : { height: last.number, blockHash: last.hash, state };
  return { head, watched, since, onChain, transfers, known, ledger: ledger.soFar(), matcher, underWay, mark };
}

async function blockAt(token: Pick<TokenChain, 'block'>, height: number): Promise<Block> {
  const block = await token.block(height);
  if (block !== null) return block;
  throw new TallyError('chain_unavailable', `The chain’s node has no block ${height}.`);
}

/** Every watched address with the first block that counts; an address that is not watched yet counts from now on. */
function watchedBy(
  cursors: readonly TreasuryCursor[],
  { treasury, head }: { readonly treasury: string; readonly head: number },
): WatchedSince[] {
  const known = cursors.map(({ treasury: address, firstHeight }) => ({
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
 * stored transaction of a payout that is under way. The chain is read for this from the mark on: the mark is in the
 * database of the books, so a backup brings back the mark that its books had. A payment that is in no block yet is
 * refused where its nonce would be used (`payOut`).
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
