import type { AccountState, Inclusion } from '@tallystick/chain';
import { encodePosting } from '@tallystick/core';
import type { PostingWrites } from './anchorer-fence.ts';
import type { AnchorerOptions, Progress } from './anchorer-options.ts';
import { attemptOf, newestOf } from './anchorer-queue.ts';
import type { ChainPosting, PostingAttempt } from './log-store.ts';

type FollowOptions = Pick<AnchorerOptions, 'log' | 'chain' | 'origin' | 'patience' | 'logger'> & {
  /** Unix seconds. */
  readonly now: () => number;
};

type Follow = (writes: PostingWrites, posting: ChainPosting) => Promise<Progress>;

/** The block in which the nonce of our attempts was seen used, although none of the attempts is in the chain. */
interface UsedNonce {
  readonly txHash: string;
  readonly blockHeight: number;
  readonly blockHash: string;
  readonly seenAt: number;
}

/**
 * The highest price that an attempt is raised to, as a multiple of the current price. Without it, a chain that makes no
 * blocks would cost the account all its money.
 */
const MAX_FEE_MULTIPLE = 10n;

const waiting: Progress = { final: false, problem: null };
const held = (problem: string): Progress => ({ final: false, problem });

/**
 * Makes the function that moves a posting one step towards `finalized`. It asks the chain once a call. What it keeps in
 * memory between calls only saves requests or delays a step: everything else is in the store.
 */
export function createFollower(options: FollowOptions): Follow {
  const { log, chain, origin, patience, logger, now } = options;
  let sent: { readonly txHash: string; readonly at: number } | null = null;
  let spent: UsedNonce | null = null;

  return async (writes, posting) => {
    const attempts = await log.listAttempts(posting.sequence);
    const newest = newestOf(attempts, posting);
    const sender = await chain.senderOf(newest.raw);
    const account = await chain.account(sender);
    const used = account.nonce > newest.nonce;
    // Read before the blocks, so that a block found at or below this height is on the final chain.
    const finalHeight = await chain.finalHeight();
    const found = await firstIncluded(
      used ? attempts : attempts.filter(({ nonce }) => nonce !== newest.nonce),
    );
    if (found !== null) return followAttempt(writes, posting, found, finalHeight);
    if (posting.state === 'confirmed') await reopen(writes, posting);
    if (used) return giveUpNonce(writes, posting, newest, account, finalHeight);
    const progress = await send(writes, posting, newest, sender);
    return account.nonce === newest.nonce ? progress : held(gap(posting, account.nonce));
  };

  async function firstIncluded(attempts: readonly PostingAttempt[]): Promise<Inclusion | null> {
    for (const { txHash } of attempts) {
      const inclusion = await chain.inclusion(txHash);
      if (inclusion !== null) return inclusion;
    }
    return null;
  }

  async function followAttempt(
    writes: PostingWrites,
    posting: ChainPosting,
    { succeeded, ...place }: Inclusion,
    finalHeight: number,
  ): Promise<Progress> {
    const { sequence } = posting;
    if (posting.place?.txHash !== place.txHash || posting.place.blockHash !== place.blockHash) {
      await writes.movePosting(sequence, { state: 'confirmed', place, finalizedAt: null });
      logger.info({ posting: sequence, ...place }, 'a root is in a block');
      // The calldata is in the block although the transaction failed, and verifiers look for nothing else.
      if (!succeeded) logger.warn({ posting: sequence }, 'the transaction failed, but its data are posted');
    }
    if (place.blockHeight > finalHeight) return waiting;
    await writes.movePosting(sequence, { state: 'finalized', place, finalizedAt: now() });
    logger.info({ posting: sequence, size: posting.size }, 'a root is final');
    return { final: true, problem: null };
  }

  async function reopen(writes: PostingWrites, posting: ChainPosting): Promise<void> {
    await writes.movePosting(posting.sequence, { state: 'queued', place: null, finalizedAt: null });
    logger.warn({ posting: posting.sequence, place: posting.place }, 'a reorganisation has dropped a root');
    sent = null;
  }

  /**
   * The nonce is used and none of our attempts is in the chain. Either this node lags behind another, or a foreign
   * transaction used it, which a reorganisation may still drop. So another nonce is taken only when the block that
   * showed it is final, is still there, and was first seen long enough ago.
   */
  async function giveUpNonce(
    writes: PostingWrites,
    posting: ChainPosting,
    attempt: PostingAttempt,
    { blockHeight, blockHash }: AccountState,
    finalHeight: number,
  ): Promise<Progress> {
    if (spent?.txHash !== attempt.txHash || (await chain.blockHash(spent.blockHeight)) !== spent.blockHash) {
      spent = { txHash: attempt.txHash, blockHeight, blockHash, seenAt: now() };
    }
    if (spent.blockHeight > finalHeight || now() < spent.seenAt + patience) {
      return held(`Another transaction has used nonce ${attempt.nonce} of posting ${posting.sequence}.`);
    }
    const { nonce } = await chain.account(chain.address);
    const data = dataOf(posting);
    const signed = await chain.sign(data, nonce, await chain.fees(data));
    await writes.addAttempt(attemptOf(posting.sequence, signed, now()));
    logger.warn({ posting: posting.sequence, lost: attempt.nonce, nonce }, 'took another nonce');
    return send(
      writes,
      { ...posting, state: 'queued' },
      attemptOf(posting.sequence, signed, now()),
      chain.address,
    );
  }

  async function send(
    writes: PostingWrites,
    posting: ChainPosting,
    newest: PostingAttempt,
    sender: string,
  ): Promise<Progress> {
    const waited = sent?.txHash === newest.txHash ? now() - sent.at : null;
    if (waited !== null && waited < patience) return waiting;
    const raised = waited === null ? null : await raise(writes, posting, newest, sender);
    const attempt = raised ?? newest;
    const outcome = await chain.broadcast(attempt.raw);
    switch (outcome.kind) {
      case 'accepted':
      case 'known':
        sent = { txHash: attempt.txHash, at: now() };
        if (posting.state !== 'broadcast' || raised !== null) {
          await writes.movePosting(posting.sequence, { state: 'broadcast', place: null, finalizedAt: null });
        }
        return waiting;
      case 'nonce_used':
        // One of our own transactions used the nonce: the next call finds its block.
        return waiting;
      case 'underpriced':
        return (await raise(writes, posting, attempt, sender)) === null
          ? held(
              `Posting ${posting.sequence} offers too little gas beside another transaction with the same nonce.`,
            )
          : waiting;
      case 'insufficient_funds':
        return held(
          `The posting account ${sender} can’t pay for posting ${posting.sequence}: send it funds.`,
        );
      case 'refused':
        return held(`The node refuses posting ${posting.sequence}: ${outcome.reason}`);
    }
  }

  /**
   * Stores an attempt at a higher price with the same nonce. Null when the price is high enough already, or the attempt
   * is another account's.
   */
  async function raise(
    writes: PostingWrites,
    posting: ChainPosting,
    last: PostingAttempt,
    sender: string,
  ): Promise<PostingAttempt | null> {
    if (sender !== chain.address) return null;
    const data = dataOf(posting);
    const above = {
      maxFeePerGas: BigInt(last.maxFeePerGas),
      maxPriorityFeePerGas: BigInt(last.maxPriorityFeePerGas),
    };
    const current = await chain.fees(data);
    if (above.maxFeePerGas >= MAX_FEE_MULTIPLE * current.maxFeePerGas) return null;
    const signed = await chain.sign(data, last.nonce, await chain.fees(data, above));
    const attempt = attemptOf(posting.sequence, signed, now());
    await writes.addAttempt(attempt);
    logger.info(
      { posting: posting.sequence, maxFeePerGas: attempt.maxFeePerGas },
      'raised the fees of a root',
    );
    return attempt;
  }

  function dataOf({ size, root }: ChainPosting): Uint8Array {
    return encodePosting({ origin, size, root });
  }
}

function gap({ sequence, nonce }: ChainPosting, next: number): string {
  return (
    `Posting ${sequence} has nonce ${nonce}, yet the account’s next one is ${next}: the chain was reset or ` +
    'reorganised, or the node lags.'
  );
}
