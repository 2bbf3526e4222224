import type { AnchoredResult } from '@tallystick/core';
import type { WebAbortSignal } from '../http/platform.ts';
import { mayPass, wait } from '../http/retry.ts';
import { ServiceError } from '../http/service-error.ts';
import type { Transport } from '../http/transport.ts';
import type { Anchor, PendingAnchor } from './anchor.ts';
import { getAnchor, getAnchorByHash, isAnchorRef } from './get-anchor.ts';
import type { HashOrReceipt } from './hash.ts';

const SECOND = 1_000;
const LONGEST_DELAY_MS = 300 * SECOND;
const LONGEST_OVERDUE_DELAY_MS = 30 * SECOND;
/** Default timeout: the period of two hourly batches. */
const TIMEOUT_MS = 7_200 * SECOND;

export interface WaitOptions {
  /** Ends the wait at any time; it then rejects with the signal's reason. */
  readonly signal?: WebAbortSignal | undefined;
  /** Timeout of the whole wait, in milliseconds: 7,200,000 when absent. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Waits until a hash is anchored: asks again when its root should be posted, and then less and less often. Once the hash
 * is known to be pending, the wait also continues while the service is busy or out of reach.
 * @param refOrHash an anchor reference, or what `anchor` takes
 * @throws ServiceError: anchor_not_found; `unavailable` when it is still pending at the end, with `eta_seconds` as
 * `retryAfter`
 */
export async function waitForAnchor(
  transport: Transport,
  refOrHash: HashOrReceipt,
  { signal, timeoutMs = TIMEOUT_MS }: WaitOptions = {},
): Promise<AnchoredResult> {
  const deadline = performance.now() + timeoutMs;
  let known: PendingAnchor | null = null;
  for (let overdue = 0; ; ) {
    const anchor: Anchor = await requestAnchor(transport, refOrHash, signal, known);
    if (!('batch_id' in anchor)) return anchor;
    const left = deadline - performance.now();
    if (left <= 0) throw stillPending(anchor, timeoutMs);
    const delay = pollDelay(anchor.eta_seconds, overdue);
    overdue = anchor.eta_seconds > 0 ? 0 : overdue + 1;
    await wait(Math.min(delay, left), signal);
    known = anchor;
  }
}

/**
 * Milliseconds until the next request: until the batch is due, but 1 s to 5 min; after that time the delay
 * doubles up to 30 s. Up to a tenth is added, so that the clients that wait for one batch do not all ask at once.
 * @param overdue number of earlier requests at which the batch was overdue
 * @param random in [0, 1)
 */
export function pollDelay(etaSeconds: number, overdue: number, random: number = Math.random()): number {
  const due =
    etaSeconds > 0
      ? Math.min(LONGEST_DELAY_MS, Math.max(SECOND, etaSeconds * SECOND))
      : Math.min(LONGEST_OVERDUE_DELAY_MS, SECOND * 2 ** overdue);
  return due * (1 + random / 10);
}

async function requestAnchor(
  transport: Transport,
  refOrHash: HashOrReceipt,
  signal: AbortSignal | undefined,
  known: PendingAnchor | null,
): Promise<Anchor> {
  try {
    return await (isAnchorRef(refOrHash)
      ? getAnchor(transport, refOrHash, { signal })
      : getAnchorByHash(transport, refOrHash, { signal }));
  } catch (error) {
    if (known === null || !(error instanceof ServiceError) || !mayPass(error)) throw error;
    return { ...known, eta_seconds: error.retryAfter ?? 0 };
  }
}

function stillPending({ anchor_ref, eta_seconds }: PendingAnchor, timeoutMs: number): ServiceError {
  const due = eta_seconds > 0 ? `due in ${eta_seconds} s` : 'overdue';
  const message = `${anchor_ref} is still pending after ${timeoutMs} ms: its posting is ${due}.`;
  const details = { status: null, retryAfter: eta_seconds, requestId: null, problem: null };
  return new ServiceError('unavailable', message, details);
}
