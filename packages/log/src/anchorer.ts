import { TallyError } from '@tallystick/core';
import type { AnchorerOptions } from './anchorer-options.ts';

export { checkNotBehind } from './anchorer-check.ts';

import { FencedError, postingWrites } from './anchorer-fence.ts';
import { createFollower } from './anchorer-follow.ts';
import { createQueue } from './anchorer-queue.ts';

/**
 * Posts the log's newest signed root once in each period in which the log has grown. One posting at a time is under
 * way, from `queued` to `finalized`; the next posting covers what becomes due meanwhile. Every transaction is stored
 * before it is sent, and all transactions of one posting have the same nonce, so the chain takes at most one of them.
 * Another nonce is taken only once a foreign transaction has used that nonce for good. So each root is posted once,
 * even after a crash at any point or with two processes that both believe they lead.
 */
export interface Anchorer {
  /**
   * Runs one step: follows the posting under way, or queues the one that is due. It does nothing while it waits for the
   * chain, or once the epoch is fenced. A fault of the chain resolves to a `problem`; every other error rejects.
   */
  step(epoch: number): Promise<void>;
  /** Why postings are held up, for operators; null when they are not. Hashes can safely be accepted meanwhile. */
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
