import type { Chain } from '@tallystick/chain';
import { TallyError } from '@tallystick/core';
import { behind, lastNonceOf } from './anchorer-queue.ts';
import type { LogStore } from './log-store.ts';

/**
 * Compares the log with its chain at start, before anything is accepted or signed. The posting account sends only this
 * log's postings, so its nonce tells how many there are.
 * @throws log_behind when the account has sent more than is stored here: the data are an older copy
 * @throws chain_mismatch when it has sent less: the chain is another one, or was reset
 * @throws chain_unavailable when the chain cannot be asked
 */
export async function checkNotBehind(log: LogStore, chain: Chain): Promise<void> {
  const next = await chain.nextNonce();
  const newest = await log.newestPosting();
  const used = newest && (await lastNonceOf(log, chain, newest));
  const most = used === null ? 0 : used + 1;
  if (next > most) {
    throw new TallyError(
      'log_behind',
      `The posting account ${chain.address} has sent ${next} transactions, but this database knows of ${most}: it is an ` +
        'older copy of the log. Restore the newest one. If the data are the newest, and the account was used for ' +
        'something else, give the log an account of its own that has sent nothing.',
    );
  }
  if (used !== null && newest?.state === 'finalized' && next <= used) {
    throw new TallyError('chain_mismatch', behind(next, used));
  }
}
