import type { Chain, SignedTransaction } from '@tallystick/chain';
import { encodePosting, TallyError } from '@tallystick/core';
import type { PostingWrites } from './anchorer-fence.ts';
import type { AnchorerOptions } from './anchorer-options.ts';
import type { ChainPosting, LogStore, PostingAttempt } from './log-store.ts';

type QueueOptions = Pick<
  AnchorerOptions,
  'log' | 'chain' | 'origin' | 'period' | 'integrateTo' | 'cosigned' | 'logger'
> & {
  /** Unix seconds. */
  readonly now: () => number;
};

/** Returns the posting that it queued, null when none is due, or the reason why the due posting cannot be queued. */
type Queue = (writes: PostingWrites, previous: ChainPosting | null) => Promise<ChainPosting | string | null>;

/** Makes the function that queues a due posting of the newest signed root, with its first attempt. */
export function createQueue(options: QueueOptions): Queue {
  const { log, chain, origin, period, integrateTo, logger, now } = options;
  const { cosigned = () => log.newestCheckpoint() } = options;

  /** Whether the scheduled time of the oldest batch that no posted root covers has passed. */
  async function isDue(previous: ChainPosting | null): Promise<boolean> {
    const oldest = await log.getLeaf(previous?.size ?? 0);
    return oldest !== null && oldest.batchAt <= now();
  }

  return async (writes, previous) => {
    if (!(await isDue(previous))) return null;
    const { nonce } = await chain.account(chain.address);
    const used = previous && (await lastNonceOf(log, chain, previous));
    if (used !== null && nonce <= used) return behind(nonce, used);
    const batchAt = Math.floor(now() / period) * period;
    const size = await writes.closeBatch(batchAt, batchAt + period);
    await integrateTo(size);
    const checkpoint = await cosigned(writes.epoch);
    if (checkpoint === null || checkpoint.size < size) {
      throw new TallyError('unavailable', `No checkpoint of ${size} leaves is stored.`);
    }
    const data = encodePosting({ origin, size: checkpoint.size, root: checkpoint.root });
    const signed = await chain.sign(data, nonce, await chain.fees(data));
    const head = { batchAt, size: checkpoint.size, root: checkpoint.root };
    const posting = { ...head, sequence: (previous?.sequence ?? 0) + 1, nonce };
    await writes.queuePosting(posting, attemptOf(posting.sequence, signed, now()));
    logger.info({ posting: posting.sequence, size: posting.size, nonce }, 'queued a root');
    return { ...posting, state: 'queued', place: null, finalizedAt: null };
  };
}

export function attemptOf(sequence: number, signed: SignedTransaction, createdAt: number): PostingAttempt {
  return {
    sequence,
    nonce: signed.nonce,
    txHash: signed.txHash,
    raw: signed.raw,
    maxFeePerGas: String(signed.maxFeePerGas),
    maxPriorityFeePerGas: String(signed.maxPriorityFeePerGas),
    createdAt,
  };
}

/** The nonce of a posting's newest attempt, or null when another account signed it. */
export async function lastNonceOf(
  log: LogStore,
  chain: Chain,
  posting: ChainPosting,
): Promise<number | null> {
  const attempt = newestOf(await log.listAttempts(posting.sequence), posting);
  return (await chain.senderOf(attempt.raw)) === chain.address ? attempt.nonce : null;
}

export function newestOf(attempts: readonly PostingAttempt[], posting: ChainPosting): PostingAttempt {
  const attempt = attempts.at(-1);
  if (attempt !== undefined) return attempt;
  throw new TallyError('log_corrupted', `Posting ${posting.sequence} has no attempt.`);
}

export function behind(next: number, used: number): string {
  return (
    `The chain is behind the log: the posting account’s next nonce there is ${next}, yet this log has posted with ` +
    `nonce ${used}. The chain was reset or the node lags. If it is a development chain, delete the data directory.`
  );
}
