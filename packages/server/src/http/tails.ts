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
/** Milliseconds after which a tail ends, since a message signature is good once and so was checked only at its beginning. */
const LIFE_MS = 900_000;
/** Rounds of a second without a call after which a comment shows that the connection is alive. */
const QUIET = 15;

/** The open tails of lists: answers that go on until the client leaves. */
export class Tails {
  readonly #clock: () => number;
  readonly #open = new Map<string, number>();
  readonly #ended = new AbortController();
  #count = 0;

  /** @param clock Unix milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Answers with an event for each call that ends from now on.
   * @param read reads an owner's newest calls from a time on, in Unix milliseconds; the tail ends when it refuses
   * @throws rate_limited where too many are open
   */
  open(c: AppContext, owner: string, read: (from: number) => Promise<readonly ListedCall[]>): Answer {
    const own = this.#open.get(owner) ?? 0;
    if (own >= MOST_OF_ONE)
      throw new Refusal('rate_limited', `At most ${MOST_OF_ONE} live lists may be open. Close one.`, {
        retryAfter: 10,
      });
    if (this.#count >= MOST)
      throw new Refusal(
        'rate_limited',
        `The service has ${MOST} live lists open, which is the most it holds. Try again later.`,
        {
          retryAfter: 60,
        },
      );
    const signal = AbortSignal.any([clientSignal(c), this.#ended.signal, AbortSignal.timeout(LIFE_MS)]);
    return {
      status: 200,
      body: textStream(this.#events(owner, signal, read)),
      contentType: 'text/event-stream; charset=utf-8',
      headers: { 'cache-control': 'private, no-store, no-transform', 'x-accel-buffering': 'no' },
    };
  }

  /** Ends every tail, and each later one at once. */
  end(): void {
    this.#ended.abort();
  }

  async *#events(
    owner: string,
    signal: AbortSignal,
    read: (from: number) => Promise<readonly ListedCall[]>,
  ): AsyncGenerator<string, void, undefined> {
    this.#add(owner, 1);
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
      this.#add(owner, -1);
    }
  }

  #add(owner: string, change: number): void {
    const own = (this.#open.get(owner) ?? 0) + change;
    if (own > 0) this.#open.set(owner, own);
    else this.#open.delete(owner);
    this.#count += change;
  }
}
