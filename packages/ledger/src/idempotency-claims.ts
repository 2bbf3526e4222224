import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IdempotencyReader, IdempotencyRecord } from '@tallystick/kit';
import { keyReusedError, replayOf } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { Claim, ClaimStore, TakeOutcome } from './claim-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import { type ProcessLease, returnHoldsOfTheDead } from './process-lease.ts';

/** A request with an `Idempotency-Key` that only this process carries out, or its answer if it was carried out before. */
type Claimed =
  /**
   * `release` ends the claim. It must be called once what the request did is durable, or once nothing of it remains.
   */
  | { readonly kind: 'mine'; readonly release: () => void }
  | { readonly kind: 'replayed'; readonly response: string };

/** Claims on idempotency keys that hold over all processes of a database. */
export interface Claims {
  /**
   * Claims a request, or waits while another request with the key is carried out. Resolves to the answer of that one,
   * or to a claim of this process if it failed or died.
   * @param wait aborts the waiting
   * @throws idempotency_key_reused where the key was used with another request; the reason of `wait` if it aborts
   */
  take(request: IdempotencyRecord, wait: AbortSignal): Promise<Claimed>;
  /** Tries again to end claims whose end could not be written. */
  sweep(): Promise<void>;
}

interface ClaimsOptions {
  readonly store: IdempotencyReader & { readonly claims: ClaimStore; readonly ledger: LedgerStore };
  readonly lease: Pick<ProcessLease, 'id' | 'ensure'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Milliseconds between checks on a claim of another process: at first, and at most. */
const FIRST_LOOK_MS = 25;
const LAST_LOOK_MS = 1_000;

type Token = Pick<Claim, 'scope' | 'token'>;

/** A claim of this process, from before it is requested until it has ended. */
interface Own {
  readonly requestHash: string;
  /** Aborts when the claim has ended or was refused. */
  readonly ended: AbortController;
}

export function createClaims({ store, lease, clock, logger }: ClaimsOptions): Claims {
  /** The claims of this process, by scope. */
  const own = new Map<string, Own>();
  /** Claims that have ended, and may still be in the database. */
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
      // If the connection broke at the commit, the claim may be in the database all the same.
      stale.add(token);
      throw error;
    }
  };

  /** Returns a claim of this process or an earlier answer; null where another process has the claim. */
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
      for (let delay = FIRST_LOOK_MS; ; delay = Math.min(2 * delay, LAST_LOOK_MS)) {
        const earlier = await replayOf(store, request, clock());
        if (earlier !== null) return { kind: 'replayed', response: earlier.response };
        const running = own.get(request.scope);
        if (running !== undefined && running.requestHash !== request.requestHash) throw keyReusedError();
        const claimed = running === undefined ? await tryTake(request) : null;
        if (claimed !== null) return claimed;
        // Requests that wait for a claim of this process are woken by its end, without a query.
        await (running === undefined
          ? pause(delay, wait)
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

/** Waits until the time is over or the signal aborts, whichever comes first. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
