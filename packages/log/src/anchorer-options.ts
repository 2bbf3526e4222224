import type { Chain } from '@tallystick/chain';
import type { Logger } from 'pino';
import type { LogStore, StoredCheckpoint } from './log-store.ts';

export interface AnchorerOptions {
  readonly log: LogStore;
  readonly chain: Chain;
  /** Origin of the log's checkpoints. */
  readonly origin: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Seconds between scheduled postings. They are scheduled at multiples of it since the Unix epoch. */
  readonly period: number;
  /** Seconds after which a posting that is in no block yet is sent again at a higher price. */
  readonly patience: number;
  /** Seconds between two requests to the chain about the posting under way. */
  readonly poll: number;
  /** Resolves when a signed checkpoint covers the first `size` leaves. */
  readonly integrateTo: (size: number) => Promise<void>;
  /**
   * The newest signed checkpoint, after the witnesses were asked to cosign it, so that what is posted is witnessed. Without
   * witnesses, absent.
   */
  readonly cosigned?: ((epoch: number) => Promise<StoredCheckpoint | null>) | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** How far a step came; `problem` is null unless something holds the posting up. */
export interface Progress {
  readonly final: boolean;
  readonly problem: string | null;
}
