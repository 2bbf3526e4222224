import type { SessionHead } from '@tallystick/core';
import type { Client } from '../client.ts';
import type { ReceiptAnchor } from './anchored-file.ts';

/** How long a session that closes waits for its service, in milliseconds. */
const CLOSING_MS = 3_000;

/** Anchors the newest receipt of a session at an interval, and its closing. A failure never holds up a receipt. */
export interface SessionAnchoring {
  /** Client of the service whose log takes the hashes; it needs an API key. */
  readonly client: Pick<Client, 'anchor' | 'getAnchorByHash'>;
  /** Time between two anchors, in milliseconds. */
  readonly everyMs: number;
  /** Called with each failure; the next round tries again. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Where an anchoring finds the newest receipt, and puts anchors. */
export interface AnchoredSession {
  head(): SessionHead;
  put(anchors: readonly ReceiptAnchor[]): Promise<void>;
}

/** Rounds of anchoring, one after the other. */
export class Anchoring {
  readonly #options: SessionAnchoring;
  readonly #session: AnchoredSession;
  /** `seq` by hash of the receipts whose proofs are not there yet. */
  readonly #pending = new Map<string, number>();
  readonly #stopped = new AbortController();
  #newest: string | null = null;
  #round: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SessionAnchoring, session: AnchoredSession) {
    this.#options = options;
    this.#session = session;
    this.#wait();
  }

  /** Ends the rounds. @param isClosed whether to have the newest receipt anchored first */
  async stop(isClosed: boolean): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopped.abort();
    await this.#round;
    if (isClosed) await this.#anchor(AbortSignal.timeout(CLOSING_MS));
  }

  #wait(): void {
    this.#timer = setTimeout(() => void (this.#round = this.#turn()), this.#options.everyMs);
    this.#timer.unref();
  }

  async #turn(): Promise<void> {
    await this.#anchor(this.#stopped.signal);
    if (!this.#stopped.signal.aborted) this.#wait();
  }

  async #anchor(signal: AbortSignal): Promise<void> {
    const { client, onError } = this.#options;
    try {
      const { hash, seq } = this.#session.head();
      if (hash !== this.#newest) {
        await client.anchor(hexIn(hash), { signal });
        this.#newest = hash;
        this.#pending.set(hash, seq);
      }
      const anchors: ReceiptAnchor[] = [];
      for (const [sent, place] of this.#pending) {
        const anchor = await client.getAnchorByHash(hexIn(sent), { signal });
        if (!('batch_id' in anchor)) anchors.push({ hash: sent, seq: place, anchor });
      }
      if (anchors.length > 0) await this.#session.put(anchors);
      for (const { hash: done } of anchors) this.#pending.delete(done);
    } catch (error) {
      if (!this.#stopped.signal.aborted || signal !== this.#stopped.signal) onError?.(error);
    }
  }
}

function hexIn(hash: string): string {
  return hash.slice('sha256:'.length);
}
