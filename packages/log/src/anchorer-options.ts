import type { Chain } from '@tallystick/chain';
import type { Logger } from 'pino';
import type { LogStore } from './log-store.ts';

export interface AnchorerOptions {
  readonly log: LogStore;
  readonly chain: Chain;
  /** The checkpoints' origin. */
  readonly origin: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Seconds between scheduled postings, which are at its multiples since the Unix epoch. */
  readonly period: number;
  /** Seconds that a posting which was sent may be in no block before it is sent again for more. */
  readonly patience: number;
  /** Seconds between two looks at the chain for a posting that is under way. */
  readonly poll: number;
  /** Resolves when a signed checkpoint covers the first `size` leaves. */
  readonly integrateTo: (size: number) => Promise<void>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** How far a step came: `problem` is null where all goes its way. */
export interface Progress {
  readonly final: boolean;
  readonly problem: string | null;
}
