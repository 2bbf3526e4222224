import { TallyError } from '@tallystick/core';
import type { AnchorerOptions } from './anchorer-options.ts';

export { checkNotBehind } from './anchorer-check.ts';

import { FencedError, postingWrites } from './anchorer-fence.ts';
import { createFollower } from './anchorer-follow.ts';
import { createQueue } from './anchorer-queue.ts';

/**
 * Posts the log's newest signed root once in each period in which the log has grown.
 *
 * One posting is under way at a time, from `queued` to `finalized`; what is due meanwhile is covered by the next. Every
 * transaction is stored before it is sent, and all that are signed for one posting have the same nonce, so that the
 * chain takes one at most. Another nonce is taken only once a foreign transaction has used up that one for good. So a
 * crash at any point, or two processes that both believe to lead, post each root once.
 */
export interface Anchorer {
  /**
   * One step: looks after the posting under way, or queues the one that is due. Does nothing while it waits for the
   * chain, nor once the epoch is fenced. The chain's faults end in `problem`; all others reject.
   */
  step(epoch: number): Promise<void>;
  /** Why postings are held up, for operators; null when they are not. Hashes are safe to accept meanwhile. */
  problem(): string | null;
}

const LONGEST_PAUSE = 30;

export function createAnchorer(options: AnchorerOptions): Anchorer {
  const { log, clock, poll, logger } = options;
  const now = () => Math.floor(clock() / 1000);
  const follow = createFollower({ ...options, now });
  const queue = createQueue({ ...options, now });
  let problem: string | null = null;
  let failures = 0;
  let wakeAt = Number.NEGATIVE_INFINITY;

  function report(found: string | null): void {
    if (found !== null && found !== problem) logger.warn({ problem: found }, 'postings are held up');
    if (found === null && problem !== null) logger.info('postings continue');
    problem = found;
    failures = found === null ? 0 : failures + 1;
    const backOff = found === null ? 0 : Math.min(2 ** (failures - 1), LONGEST_PAUSE);
    wakeAt = clock() + Math.max(poll, backOff) * 1000;
  }

  async function advance(epoch: number): Promise<void> {
    const writes = postingWrites(log, epoch);
    const newest = await log.newestPosting();
    if (newest !== null && newest.state !== 'finalized') {
      const progress = await follow(writes, newest);
      report(progress.problem);
      if (!progress.final) return;
    }
    const queued = await queue(writes, await log.newestPosting());
    if (typeof queued === 'string') return report(queued);
    if (queued !== null) report((await follow(writes, queued)).problem);
  }

  return {
    problem: () => problem,
    async step(epoch) {
      if (clock() < wakeAt) return;
      try {
        await advance(epoch);
      } catch (error) {
        if (error instanceof FencedError) return;
        if (!(error instanceof TallyError) || error.code !== 'chain_unavailable') throw error;
        report(error.message);
      }
    },
  };
}
