import type { Inclusion } from '@tallystick/chain';
import type { Logger } from 'pino';
import type { PayoutAttempt, PayoutRow, TreasuryStore } from '../treasury-store.ts';
import { paidPosting } from './postings.ts';
import type { PayoutChain } from './wallet.ts';

export interface FollowOptions {
  readonly store: { readonly treasury: TreasuryStore };
  readonly chain: PayoutChain;
  readonly network: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Seconds for which a nonce must be seen used by a foreign transaction before its payout is reopened. */
  readonly patience: number;
}

/**
 * Follows the payouts that are signed: sends them again, and ends those whose transaction is confirmed. It needs no
 * key, so every server can run it; several at once do nothing twice.
 */
export function createPayoutFollower(options: FollowOptions): { step(): Promise<void> } {
  const { store, chain, network, clock, logger, patience } = options;
  const now = (): number => Math.floor(clock() / 1000);
  /** Since when the nonce of a payout is seen used by a foreign transaction, by payout. */
  const lost = new Map<string, number>();

  async function follow(payout: PayoutRow): Promise<void> {
    const attempts = (await store.treasury.payoutAttempts(payout.id)).filter(
      ({ nonce }) => nonce === payout.nonce,
    );
    const newest = attempts.at(-1);
    if (newest === undefined) return;
    // Read before the transactions: if they are missing, they are missing from a chain in which the nonce is used.
    const finalHeight = await chain.finalHeight();
    const used = finalHeight >= 0 && (await chain.nonceAt(newest.sender, finalHeight)) > newest.nonce;
    const found = await firstIncluded(attempts);
    if (found !== null) {
      lost.delete(payout.id);
      if (found.blockHeight <= finalHeight) await end(payout, found);
    } else if (used) await giveUp(payout);
    else await chain.broadcast(newest.raw);
  }

  async function firstIncluded(attempts: readonly PayoutAttempt[]): Promise<Inclusion | null> {
    for (const { txHash } of attempts) {
      const inclusion = await chain.inclusion(txHash);
      if (inclusion !== null) return inclusion;
    }
    return null;
  }

  async function end(payout: PayoutRow, { txHash, blockHeight, succeeded }: Inclusion): Promise<void> {
    const { id } = payout;
    if (!succeeded) {
      await store.treasury.reopenPayout(id, `its transaction ${txHash} failed`);
      logger.warn({ payout: id, txHash }, 'a payout has failed on the chain');
      return;
    }
    const at = now();
    const moved = await store.treasury.endPayout(
      { id, txHash, height: blockHeight, note: payout.note },
      { from: 'paying', to: 'paid', at },
      paidPosting(payout, at),
    );
    if (moved === 'ended') logger.info({ payout: id, txHash }, 'a payout is confirmed');
  }

  /** A node that lags behind another looks the same, so it must be seen for a while. */
  async function giveUp({ id, nonce }: PayoutRow): Promise<void> {
    const since = lost.get(id) ?? now();
    lost.set(id, since);
    if (now() < since + patience) return;
    lost.delete(id);
    await store.treasury.reopenPayout(id, `another transaction has used nonce ${nonce}`);
    logger.warn({ payout: id, nonce }, 'another transaction has used the nonce of a payout');
  }

  return {
    async step() {
      for (const payout of await store.treasury.payoutsUnderWay(network)) await follow(payout);
    },
  };
}
