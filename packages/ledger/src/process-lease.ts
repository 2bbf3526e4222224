import { randomUUID } from 'node:crypto';
import { runEvery } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { ClaimStore } from './claim-store.ts';
import type { LedgerStore } from './ledger-store.ts';

/** The lease of one serving process. Its reservations and claims in the database end with it. */
export interface ProcessLease {
  /** Random, so that no two processes share it, whatever machine they run on. */
  readonly id: string;
  /**
   * Resolves while the lease runs. If it may have run out, because the process was paused or the database unavailable,
   * it is renewed first: whatever is claimed under an ended lease could be taken over at once.
   * @throws unavailable
   */
  ensure(): Promise<void>;
  /** Ends the lease, so that others can take over at once. */
  close(): Promise<void>;
}

interface LeaseOptions {
  readonly store: { readonly claims: ClaimStore };
  /** Seconds for which the process counts as alive after a renewal. Three renewals fit into it. */
  readonly seconds: number;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Takes a lease and renews it until it is closed. A renewal that fails is logged and tried again; when the database
 * comes back, the same lease goes on.
 * @throws unavailable when the first renewal cannot be written
 */
export async function openProcessLease({ store, seconds, logger }: LeaseOptions): Promise<ProcessLease> {
  const id = randomUUID();
  /** Milliseconds on the clock of `performance.now()`. */
  let runsUntil = 0;
  const renew = async (): Promise<void> => {
    const begun = performance.now();
    await store.claims.renewLease(id, seconds);
    runsUntil = begun + seconds * 1_000;
  };
  await renew();
  const stop = runEvery((seconds * 1_000) / 3, () =>
    renew().catch((error: unknown) => logger.warn({ err: error }, 'the process lease was not renewed')),
  );
  return {
    id,
    async ensure() {
      if (performance.now() >= runsUntil) await renew();
    },
    async close() {
      await stop();
      // If this fails, the lease ends by itself in the database.
      await store.claims
        .endLease(id)
        .catch((error: unknown) => logger.warn({ err: error }, 'the process lease was not ended'));
    },
  };
}

/**
 * Ends the reservations that have expired or belong to dead processes, then ends the claims of dead processes: whoever
 * takes over a claim finds the money available again.
 * @param now unix seconds
 */
export async function returnHoldsOfTheDead(
  { ledger, claims }: { readonly ledger: LedgerStore; readonly claims: ClaimStore },
  now: number,
): Promise<void> {
  while ((await ledger.expireReservations(now)) > 0);
  await claims.forgetDead();
}
