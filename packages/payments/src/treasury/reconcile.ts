import type { TokenChain, TokenTransfer } from '@tallystick/chain/evm';
import { TallyError } from '@tallystick/core';
import type { LedgerStore } from '@tallystick/ledger';
import { paidPosting, paidPostingId } from '../payouts/postings.ts';
import type { BaseUnits, PayoutRow, TreasuryStore } from '../treasury-store.ts';
import { chainAccount, OWNER, openingId, ownId } from './accounts.ts';
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

const LINES = 500;

/**
 * Compares the ledger with the chain: every transfer from and to the treasury must have its posting, every posting its
 * transfer, and the balances must be equal. What is not confirmed yet, and so not posted, counts as pending.
 * @throws chain_unavailable
 */
export async function reconcile({ store, token, treasury }: ReconcileDependencies): Promise<Reconciliation> {
  const { network } = token;
  const head = await token.head();
  const watched = await watchedBy(store.treasury, { network, treasury, head: head.number });
  const moved = new Map<string, Move>();
  let onChain = 0n;
  for (const { address, fromBlock } of watched) {
    await readMoves(token, address, { fromBlock, toBlock: head.number }, moved);
    onChain += await token.balanceOf(address, head.number);
  }
  // The ledger is read last: it may since have gained what the chain had, but loses nothing.
  const underWay = await transactionsUnderWay(store.treasury, network);
  const payouts = await payoutsByTransaction(store.treasury);
  const postings = await readPostings(store.ledger, chainAccount(network));
  const read = { transfers: moved.size, postings: postings.size };

  const differences: Difference[] = [];
  let pending = 0n;
  const unknownPayments: string[] = [];
  const openings = watched.map(({ address }) => openingId(network, address));
  let inLedger = take(postings, openings).amount;
  for (const move of moved.values()) {
    const { names, amount } = take(postings, namesOf(network, move, payouts));
    inLedger += amount;
    const isUnderWay = underWay.has(move.txHash);
    const isPending = move.height > head.number - token.confirmations + 1 || isUnderWay;
    if (names.length === 0 && isPending) {
      pending += move.amount;
      if (move.amount < 0n && !isUnderWay) unknownPayments.push(move.txHash);
    } else if (amount !== move.amount) differences.push(differs(move, names, amount));
  }
  for (const [posting, amount] of postings) {
    inLedger += amount;
    differences.push({
      kind: 'posting_without_transfer',
      txHash: null,
      posting,
      onChain: 0n,
      inLedger: amount,
    });
  }
  if (differences.length === 0 && inLedger + pending !== onChain)
    differences.push({ kind: 'balance_differs', txHash: null, posting: null, onChain, inLedger });
  const treasuries = watched.map(({ address }) => address);
  const sums = { onChain, inLedger, pending };
  return { network, treasuries, block: head.number, ...sums, unknownPayments, ...read, differences };
}

/** Every watched address with the first block that counts; an address that is not watched yet counts from now on. */
async function watchedBy(
  store: TreasuryStore,
  { network, treasury, head }: { readonly network: string; readonly treasury: string; readonly head: number },
): Promise<{ address: string; fromBlock: number }[]> {
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
 * backup, or with a standby that lacks the newest rows, it could be paid twice.
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

/** What a transaction moved into the treasury, less what it moved out. */
interface Move {
  readonly txHash: string;
  height: number;
  incoming: number;
  amount: BaseUnits;
}

async function readMoves(
  token: ReconcileDependencies['token'],
  address: string,
  range: { readonly fromBlock: number; readonly toBlock: number },
  moves: Map<string, Move>,
): Promise<void> {
  if (range.fromBlock > range.toBlock) return;
  const add = ({ txHash, blockNumber }: TokenTransfer, amount: BaseUnits): void => {
    const move = moves.get(txHash) ?? { txHash, height: blockNumber, incoming: 0, amount: 0n };
    moves.set(txHash, move);
    move.amount += amount;
    if (amount > 0n) move.incoming += 1;
  };
  for await (const one of token.transfers({ ...range, to: address }))
    if (one.from !== one.to) add(one, one.amount);
  for await (const one of token.transfers({ ...range, from: address }))
    if (one.from !== one.to) add(one, -one.amount);
}

/** The ids that the postings of a transaction can have: the watcher's, x402's, and payouts'. */
function namesOf(
  network: string,
  { txHash, incoming }: Move,
  payouts: ReadonlyMap<string, string>,
): string[] {
  const ours = Array.from({ length: incoming }, (_, ordinal) => `transfer:${network}:${txHash}:${ordinal}`);
  const payout = payouts.get(txHash);
  const others = [`x402:${txHash}`, ownId(network, txHash)];
  return [...ours, ...others, ...(payout === undefined ? [] : [paidPostingId(payout)])];
}

async function payoutsByTransaction(treasury: TreasuryStore): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { id, txHash } of treasury.listPayouts()) if (txHash !== null) found.set(txHash, id);
  return found;
}

/** Transactions of payouts that are signed and whose end is not posted. */
async function transactionsUnderWay(treasury: TreasuryStore, network: string): Promise<Set<string>> {
  const payouts = await treasury.payoutsUnderWay(network);
  const attempts = await Promise.all(payouts.map(({ id }) => treasury.payoutAttempts(id)));
  return new Set(attempts.flat().map(({ txHash }) => txHash));
}

/** The postings of the chain's account: base units into the treasury, by posting. */
async function readPostings(ledger: LedgerStore, account: string): Promise<Map<string, BaseUnits>> {
  const found = new Map<string, BaseUnits>();
  for (let after = 0; ; ) {
    const lines = await ledger.statement(account, { after, limit: LINES });
    for (const { posting, amount } of lines) found.set(posting, -amount / toNanoUsdc(1n));
    const last = lines.at(-1);
    if (last === undefined) return found;
    after = last.line;
  }
}

/** Removes postings, and returns their sum. */
function take(
  postings: Map<string, BaseUnits>,
  ids: readonly string[],
): { readonly names: string[]; readonly amount: BaseUnits } {
  const names = ids.filter((name) => postings.has(name));
  const amount = names.reduce((sum, name) => sum + (postings.get(name) ?? 0n), 0n);
  for (const name of names) postings.delete(name);
  return { names, amount };
}

function differs({ txHash, amount }: Move, names: readonly string[], inLedger: BaseUnits): Difference {
  const kind = names.length === 0 ? 'unposted_transfer' : 'amount_differs';
  return { kind, txHash, posting: names.join(', ') || null, onChain: amount, inLedger };
}
