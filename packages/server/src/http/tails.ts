import { callDocument, followCalls, type ListedCall } from '@tallystick/inference';
import { Refusal } from '@tallystick/kit';
import type { Answer } from './answer.ts';
import type { AppContext } from './context.ts';
import { clientSignal } from './disconnect.ts';
import { isFault } from './problem.ts';
import { textStream } from './text-stream.ts';

/** Tails that one caller may have open in this process. */
const MOST_OF_ONE = 10;
const MOST = 500;
/** Tails in this process that all free callers together may have open. */
const MOST_FREE = 100;
/** Milliseconds after which a tail ends, since a message signature is good once and so was checked only at its beginning. */
const LIFE_MS = 900_000;
/** Rounds of a second without a call after which a comment shows that the connection is alive. */
const QUIET = 15;

/** Who follows a list. */
interface Follower {
  readonly owner: string;
  /** Whether anybody can become such an owner at next to no cost. */
  readonly isFree: boolean;
}

/** The open tails of lists: answers that go on until the client leaves. */
export class Tails {
  readonly #clock: () => number;
  /** One object for each open tail. */
  readonly #open = new Set<Follower>();
  readonly #ended = new AbortController();

  /** @param clock Unix milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Answers with an event for each call that ends from now on.
   * @param read reads an owner's newest calls from a time on, in Unix milliseconds; the tail ends when it refuses
   * @throws rate_limited where too many are open
   */
  open(
    c: AppContext,
    { owner, isFree }: Follower,
    read: (from: number) => Promise<readonly ListedCall[]>,
  ): Answer {
    const open = [...this.#open];
    if (open.filter((one) => one.owner === owner).length >= MOST_OF_ONE)
      throw tooMany(`At most ${MOST_OF_ONE} live lists may be open. Close one.`, 10);
    if (open.length >= MOST)
      throw tooMany(
        `The service has ${MOST} live lists open, which is the most it holds. Try again later.`,
        60,
      );
    if (isFree && open.filter((one) => one.isFree).length >= MOST_FREE)
      throw tooMany(
        `DIDs with a low balance have ${MOST_FREE} live lists open together, which is the most they get. Top up, or try again later.`,
        60,
      );
    const signal = AbortSignal.any([clientSignal(c), this.#ended.signal, AbortSignal.timeout(LIFE_MS)]);
    const tail = { owner, isFree };
    const close = (): void => void this.#open.delete(tail);
    // It counts from now on, and a client may leave before the first event is asked for.
    if (!signal.aborted) this.#open.add(tail);
    signal.addEventListener('abort', close);
    return {
      status: 200,
      body: textStream(this.#events(signal, read, close)),
      contentType: 'text/event-stream; charset=utf-8',
      headers: { 'cache-control': 'private, no-store, no-transform', 'x-accel-buffering': 'no' },
    };
  }

  /** Ends every tail, and each later one at once. */
  end(): void {
    this.#ended.abort();
  }

  async *#events(
    signal: AbortSignal,
    read: (from: number) => Promise<readonly ListedCall[]>,
    close: () => void,
  ): AsyncGenerator<string, void, undefined> {
    try {
      // Comes once the calls are known that were listed before: whoever reads the list after it misses none.
      let text = ': the calls that end from now on\n\n';
      let quiet = 0;
      for await (const calls of followCalls({ read, clock: this.#clock, signal })) {
        text += calls.map((call) => `event: call\ndata: ${JSON.stringify(callDocument(call))}\n\n`).join('');
        quiet = calls.length > 0 ? 0 : quiet + 1;
        if (text !== '') yield text;
        else if (quiet % QUIET === 0) yield ': nothing new\n\n';
        text = '';
      }
    } catch (error) {
      if (isFault(error)) throw error;
    } finally {
      close();
    }
  }
}

function tooMany(message: string, retryAfter: number): Refusal {
  return new Refusal('rate_limited', message, { retryAfter });
}
