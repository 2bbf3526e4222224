import type { Broadcast, SignedTransaction } from '@tallystick/chain';
import type { TokenChain } from '@tallystick/chain/evm';
import { TallyError } from '@tallystick/core';
import type { PayoutAttempt, PayoutRow, TreasuryStore } from '../treasury-store.ts';
import type { Wallet } from './wallet.ts';

export interface PayoutDependencies {
  readonly store: { readonly treasury: TreasuryStore };
  readonly wallet: Wallet;
  readonly token: Pick<TokenChain, 'network' | 'balanceOf'>;
  /** The address that receives payments and pays out. */
  readonly treasury: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** What became of a payout: `problem` is null where its transaction is under way, else text without a full stop. */
export interface PayOutcome {
  readonly id: string;
  readonly txHash: string | null;
  readonly problem: string | null;
}

/** Seconds in no block after which a payout is sent again at a higher price. */
const PATIENCE = 60;

/**
 * Pays out what an operator has approved: one transaction each, stored before it is sent. A payout is signed with one
 * nonce alone until the chain has used that nonce up for good, so each is paid once, however often and by however many
 * processes this is run. Payouts that are under way already are sent again. One that cannot be sent has a `problem`, and
 * does not keep the others from being paid.
 * @throws invalid_field where the key is not the treasury's; insufficient_balance; unavailable for a payout that has
 * ended
 */
export async function payOut(
  dependencies: PayoutDependencies,
  payouts: readonly PayoutRow[],
): Promise<PayOutcome[]> {
  const { store, wallet, token, treasury } = dependencies;
  if (wallet.address.toLowerCase() !== treasury.toLowerCase()) {
    throw new TallyError(
      'invalid_field',
      `The key belongs to ${wallet.address}, but the treasury is ${treasury}.`,
      {
        field: 'treasury_key',
      },
    );
  }
  const underWay = await store.treasury.payoutsUnderWay(token.network);
  const waiting = payouts.filter(({ state, network }) => state === 'waiting' && network === token.network);
  await requireFunds(dependencies, [...waiting, ...underWay]);
  const outcomes: PayOutcome[] = [];
  for (const payout of payouts) outcomes.push(await tryOne(dependencies, payout));
  return outcomes;
}

async function tryOne(dependencies: PayoutDependencies, { id, network }: PayoutRow): Promise<PayOutcome> {
  const own = dependencies.token.network;
  if (network !== own)
    return { id, txHash: null, problem: `it is to be paid on ${network}, and this service pays on ${own}` };
  try {
    return await payOne(dependencies, id);
  } catch (error) {
    // The node may refuse this transfer alone, such as one to an address that USDC blocks.
    if (!(error instanceof TallyError && error.code === 'chain_unavailable')) throw error;
    return { id, txHash: null, problem: error.message.replace(/\.$/, '') };
  }
}

async function requireFunds(
  { token, treasury }: PayoutDependencies,
  payouts: readonly PayoutRow[],
): Promise<void> {
  const needed = payouts.reduce((sum, { amount }) => sum + amount, 0n);
  const held = await token.balanceOf(treasury);
  if (held >= needed) return;
  throw new TallyError(
    'insufficient_balance',
    `The treasury holds ${held} base units of USDC; these payouts need ${needed}. Nothing was sent.`,
  );
}

async function payOne(dependencies: PayoutDependencies, id: string): Promise<PayOutcome> {
  for (;;) {
    const payout = await dependencies.store.treasury.payout(id);
    if (payout?.state === 'paying') return resend(dependencies, payout);
    if (payout?.state !== 'waiting')
      throw new TallyError(
        'unavailable',
        `The payout ${id} cannot be changed any more: it is ${payout?.state ?? 'missing'}.`,
      );
    const attempt = await sign(dependencies, payout, await nextNonce(dependencies));
    // Another operator's command came first: try again.
    if ((await dependencies.store.treasury.startPayout(attempt)) === 'started')
      return send(dependencies, payout, attempt);
  }
}

/**
 * The nonce after all that are signed, whether the chain knows them yet or not.
 * @throws unavailable where the node knows a transaction of the treasury that neither a block nor the books have: signing over
 * its nonce could pay the payout of another transaction a second time
 */
async function nextNonce({ store, wallet, token }: PayoutDependencies): Promise<number> {
  const [used, known] = await Promise.all([
    wallet.nonceAt(wallet.address, 'latest'),
    wallet.nonceAt(wallet.address, 'pending'),
  ]);
  // Read after the chain: whatever this service has sent was stored before it was sent.
  const signed = await store.treasury.newestNonce(token.network, wallet.address);
  const next = Math.max(used, (signed ?? -1) + 1);
  if (known <= next) return next;
  throw new TallyError(
    'unavailable',
    `The treasury has sent transactions that wait for a block and are not in the books, with the nonces ${next} to ${known - 1}. Were the books restored from a backup? Nothing more was sent. Wait until they are in a block, book them (tally ledger reconcile), and run this again.`,
  );
}

async function sign(
  dependencies: PayoutDependencies,
  payout: PayoutRow,
  nonce: number,
): Promise<PayoutAttempt> {
  const transfer = { to: payout.address, amount: payout.amount };
  return attemptOf(
    dependencies,
    payout,
    await dependencies.wallet.sign(transfer, nonce, await dependencies.wallet.fees(transfer)),
  );
}

function attemptOf(
  { wallet, clock }: PayoutDependencies,
  { id }: PayoutRow,
  signed: SignedTransaction,
): PayoutAttempt {
  return {
    payout: id,
    sender: wallet.address,
    nonce: signed.nonce,
    txHash: signed.txHash,
    raw: signed.raw,
    maxFeePerGas: String(signed.maxFeePerGas),
    maxPriorityFeePerGas: String(signed.maxPriorityFeePerGas),
    createdAt: Math.floor(clock() / 1000),
  };
}

async function send(
  { wallet }: PayoutDependencies,
  { id }: PayoutRow,
  attempt: PayoutAttempt,
): Promise<PayOutcome> {
  const outcome = await wallet.broadcast(attempt.raw);
  return { id, txHash: attempt.txHash, problem: problemOf(outcome) };
}

/** A used nonce may have been used by this very transaction: the follower finds out. */
function problemOf(outcome: Broadcast): string | null {
  switch (outcome.kind) {
    case 'accepted':
    case 'known':
    case 'nonce_used':
      return null;
    case 'insufficient_funds':
      return 'the treasury has too little to pay for gas';
    case 'underpriced':
      return 'the transaction pays too little for gas; approve it again in a minute';
    case 'refused':
      return `the node refuses it: ${outcome.reason}`;
  }
}

/** Sends the newest transaction of a payout again, at a higher price if it has waited long. */
async function resend(dependencies: PayoutDependencies, payout: PayoutRow): Promise<PayOutcome> {
  const { store, wallet, clock } = dependencies;
  const attempts = await store.treasury.payoutAttempts(payout.id);
  const newest = attempts.findLast(({ nonce }) => nonce === payout.nonce);
  if (newest === undefined || newest.sender !== wallet.address)
    throw new TallyError('unavailable', `The payout ${payout.id} was signed with another key.`);
  const waited = clock() / 1000 - newest.createdAt;
  if (waited < PATIENCE || (await wallet.inclusion(newest.txHash)) !== null)
    return send(dependencies, payout, newest);
  const transfer = { to: payout.address, amount: payout.amount };
  const above = {
    maxFeePerGas: BigInt(newest.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(newest.maxPriorityFeePerGas),
  };
  const dearer = await wallet.sign(transfer, newest.nonce, await wallet.fees(transfer, above));
  const attempt = attemptOf(dependencies, payout, dearer);
  const added = await store.treasury.addPayoutAttempt(attempt);
  return send(dependencies, payout, added === 'added' ? attempt : newest);
}
