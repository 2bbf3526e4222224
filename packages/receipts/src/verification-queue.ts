import { setImmediate, setTimeout } from 'node:timers/promises';
import { Refusal } from '@tallystick/kit';

/** Leave to verify. Whoever has it calls `end` once, whatever comes. */
export interface VerificationSlot {
  /** To be awaited between two receipts of one request, so that others have their turn. */
  between(): Promise<void>;
  end(): void;
}

/**
 * Who verifies when, in one process. Callers with a key of a tier have the first class: they never wait for a turn. All
 * others share the second class: eight of them at once, in the order in which they came. While the first class is in use
 * only one of the second verifies at a time. It rests after each receipt for three times as long as the receipt took, so
 * that it has a quarter of the processor at most, and a caller of the first class hardly ever meets it.
 */
export interface VerificationQueue {
  first(): VerificationSlot;
  /** @throws unavailable, with `Retry-After`, where too many wait already */
  second(): Promise<VerificationSlot>;
  /** Requests of the second class that wait for their turn. */
  readonly waiting: number;
}

/** Requests of the second class that wait at most. */
const MOST_WAITING = 1_000;
/** Requests of the second class that are verified at once while the first class is not in use. */
const MOST_AT_ONCE = 8;
const RETRY_SECONDS = 2;
/** How long the first class counts as in use after a request, in milliseconds. */
const IN_USE_MS = 1_000;
/** The second class rests so many times as long as it worked. */
const REST = 3;

/** @param now milliseconds, of a clock that only runs forward */
export function createVerificationQueue(now: () => number = () => performance.now()): VerificationQueue {
  const waiting: (() => void)[] = [];
  let working = 0;
  let firstUntil = Number.NEGATIVE_INFINITY;

  const atOnce = (): number => (now() < firstUntil ? 1 : MOST_AT_ONCE);

  const rest = async (workedMs: number): Promise<void> => {
    if (now() < firstUntil) await setTimeout(Math.max(1, Math.ceil(workedMs * REST)));
    // Lets requests that have come meanwhile be read, those of the first class among them.
    else await setImmediate();
  };

  const releaseSlot = async (workedMs: number): Promise<void> => {
    await rest(workedMs);
    working -= 1;
    for (const next of waiting.splice(0, Math.max(0, atOnce() - working))) {
      working += 1;
      next();
    }
  };

  const begin = (): VerificationSlot => {
    let since = now();
    return {
      async between() {
        await rest(now() - since);
        since = now();
      },
      end: () => void releaseSlot(now() - since),
    };
  };

  return {
    get waiting() {
      return waiting.length;
    },
    first() {
      firstUntil = now() + IN_USE_MS;
      return {
        between: () => setImmediate(),
        end: () => {
          firstUntil = now() + IN_USE_MS;
        },
      };
    },
    async second() {
      if (working < atOnce()) working += 1;
      else {
        if (waiting.length >= MOST_WAITING) throw tooMany();
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      return begin();
    },
  };
}

function tooMany(): Refusal {
  return new Refusal(
    'unavailable',
    `Too many callers without a key are waiting for the verifier. Try again in ${RETRY_SECONDS} s, send an API key, or verify locally with tally verify.`,
    { retryAfter: RETRY_SECONDS },
  );
}
