import { ProviderError } from '../providers/provider.ts';

/** One signal from the client's connection to the provider's: aborted when the client leaves, or when time is up. */
export class CallSignal {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #late = false;

  /** @param client aborts when the client leaves */
  constructor(client: AbortSignal, maxMs: number) {
    if (client.aborted) this.#controller.abort();
    client.addEventListener('abort', () => this.leave(), { once: true });
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#controller.abort();
    }, maxMs);
    this.#timer.unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the client has left. */
  get left(): boolean {
    return this.signal.aborted && !this.#late;
  }

  leave(): void {
    this.#controller.abort();
  }

  /** Nothing is waited for any more. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** An abort that is none of the client's is a provider that took too long. */
  reason(error: ProviderError): ProviderError {
    return error.kind === 'aborted' && this.#late
      ? new ProviderError('timeout', 'the call took too long')
      : error;
  }
}
