import { ProviderError } from './provider.ts';

/** Time-outs in milliseconds. */
export interface Timeouts {
  /** For connecting, including TLS. */
  readonly connectMs: number;
  /** From the request to the first byte of a streamed answer. */
  readonly firstByteMs: number;
  /** From the request to the first byte of an answer that comes in one piece, when it is finished. */
  readonly answerMs: number;
  /** Between one byte and the next. */
  readonly idleMs: number;
}

export const defaultTimeouts: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 60_000,
  answerMs: 300_000,
  idleMs: 60_000,
};

/** Ends one exchange with a provider when its signal aborts, or when what is awaited does not come in time. */
export class Watch {
  readonly #provider: string;
  readonly #signal: AbortSignal;
  #end: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #lastLook: NodeJS.Immediate | undefined;
  #late = false;

  constructor(provider: string, signal: AbortSignal) {
    this.#provider = provider;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Sets how to end the exchange. */
  endsBy(end: () => void): void {
    this.#end = end;
    if (this.#signal.aborted) end();
  }

  /** Waits from now on, for at most this long. */
  wait(milliseconds: number): void {
    this.pause();
    this.#timer = setTimeout(this.#expire, milliseconds);
  }

  /** Stops waiting. */
  pause(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastLook);
  }

  release(): void {
    this.pause();
    this.#signal.removeEventListener('abort', this.#abort);
  }

  /** Why the exchange failed: `otherwise` unless it was ended by this watch. */
  reason(otherwise: ProviderError): ProviderError {
    if (this.#signal.aborted)
      return new ProviderError('aborted', `the call to ${this.#provider} was aborted`);
    return this.#late ? new ProviderError('timeout', `${this.#provider} took too long`) : otherwise;
  }

  readonly #abort = (): void => {
    this.#end();
  };

  readonly #expire = (): void => {
    // If this process is the slow one, the awaited bytes may have arrived without being read yet.
    this.#lastLook = setImmediate(() => {
      this.#late = true;
      this.#end();
    });
  };
}
