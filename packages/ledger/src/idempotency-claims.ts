import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IdempotencyReader, IdempotencyRecord } from '@tallystick/kit';
import { keyReusedError, replayOf } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { Claim, ClaimStore, TakeOutcome } from './claim-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import { type ProcessLease, returnHoldsOfTheDead } from './process-lease.ts';

/** A request with an `Idempotency-Key` that this process alone carries out, or its answer where it came before. */
type Claimed =
  /** `release` ends the claim; it must be called once what the request did is durable, or once nothing is left of it. */
  | { readonly kind: 'mine'; readonly release: () => void }
  | { readonly kind: 'replayed'; readonly response: string };

/** Claims on idempotency keys, over all processes on the database. */
export interface Claims {
  /**
   * Claims a request, or waits for who carries it out already. Resolves to that one's answer, or to a claim of our own
   * where it failed or died.
   * @param wait ends the waiting when it aborts
   * @throws idempotency_key_reused where the key belongs to another request; what `wait` was aborted for: its reason
   */
  take(request: IdempotencyRecord, wait: AbortSignal): Promise<Claimed>;
  /** Tries again to end the claims whose end could not be written. */
  sweep(): Promise<void>;
}

interface ClaimsOptions {
  readonly store: IdempotencyReader & { readonly claims: ClaimStore; readonly ledger: LedgerStore };
  readonly lease: Pick<ProcessLease, 'id' | 'ensure'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'warn'>;
}

/** How often a claim of another process is looked at: at first, and at most. */
const FIRST_LOOK_MS = 25;
const LAST_LOOK_MS = 1_000;

type Token = Pick<Claim, 'scope' | 'token'>;

/** A claim of this process, from before it is asked for until it has ended. */
interface Own {
  readonly requestHash: string;
  /** Its signal aborts when the claim has ended or was refused. */
  readonly ended: AbortController;
}

export function createClaims({ store, lease, clock, logger }: ClaimsOptions): Claims {
  /** The claims of this process, by scope. */
  const own = new Map<string, Own>();
  /** Claims that may still be in the database though they have ended. */
  const stale = new Set<Token>();

  const endClaim = (token: Token): Promise<void> =>
    store.claims.release(token).catch((error: unknown) => {
      stale.add(token);
      logger.warn({ err: error }, 'the claim of an Idempotency-Key could not be released yet');
    });

  const askFor = async ({ requestHash }: IdempotencyRecord, token: Token): Promise<TakeOutcome> => {
    await lease.ensure();
    try {
      return await store.claims.take({ ...token, requestHash, process: lease.id });
    } catch (error) {
      // Where the connection broke at the commit, it is in the database all the same.
      stale.add(token);
      throw error;
    }
  };

  /** A claim of this process, an earlier answer, or null where another process has the claim. */
  const tryTake = async (request: IdempotencyRecord): Promise<Claimed | null> => {
    const { scope, requestHash } = request;
    const token = { scope, token: randomUUID() };
    const ended = new AbortController();
    const forget = (): void => {
      own.delete(scope);
      ended.abort();
    };
    own.set(scope, { requestHash, ended });
    let outcome: TakeOutcome | null = null;
    try {
      outcome = await askFor(request, token);
    } finally {
      if (outcome?.kind !== 'taken') forget();
    }
    if (outcome.kind === 'taken')
      return { kind: 'mine', release: () => void endClaim(token).finally(forget) };
    if (outcome.kind === 'reused') throw keyReusedError();
    if (outcome.kind === 'replayed') return outcome;
    if (!outcome.live) await returnHoldsOfTheDead(store, Math.floor(clock() / 1000));
    return null;
  };

  return {
    async take(request, wait) {
      for (let look = FIRST_LOOK_MS; ; look = Math.min(2 * look, LAST_LOOK_MS)) {
        const earlier = await replayOf(store, request, clock());
        if (earlier !== null) return { kind: 'replayed', response: earlier.response };
        const running = own.get(request.scope);
        if (running !== undefined && running.requestHash !== request.requestHash) throw keyReusedError();
        const claimed = running === undefined ? await tryTake(request) : null;
        if (claimed !== null) return claimed;
        // A claim of this process wakes whoever waits when it ends, so the database need not be asked.
        await (running === undefined
          ? pause(look, wait)
          : pause(LAST_LOOK_MS, AbortSignal.any([wait, running.ended.signal])));
        wait.throwIfAborted();
      }
    },
    async sweep() {
      const tokens = [...stale];
      stale.clear();
      await Promise.all(tokens.map(endClaim));
    },
  };
}

/** Waits until the time is over or the signal aborts, whichever is first. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
