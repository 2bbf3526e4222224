import { ProviderError } from '../providers/provider.ts';

/** Why a call is ended: the client left, its time is up, or the service stops. */
type Cause = 'left' | 'late' | 'stopped';

/** One signal to the provider's connection: aborted when the client leaves, when time is up, or when the service stops. */
export class CallSignal {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #stop: AbortSignal;
  #cause: Cause | null = null;

  /**
   * @param client aborts when the client leaves
   * @param maxMs how long the call may take, in milliseconds
   * @param stop aborts when calls under way must end; see `PipelineContext.stop`
   */
  constructor(client: AbortSignal, maxMs: number, stop: AbortSignal) {
    this.#stop = stop;
    this.#timer = setTimeout(() => this.#abort('late'), maxMs);
    this.#timer.unref();
    if (client.aborted) this.leave();
    if (stop.aborted) this.#onStop();
    client.addEventListener('abort', () => this.leave(), { once: true });
    stop.addEventListener('abort', this.#onStop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the client has left. */
  get left(): boolean {
    return this.#cause === 'left';
  }

  /** Whether the call was ended because the service stops. */
  get stopped(): boolean {
    return this.#cause === 'stopped';
  }

  leave(): void {
    this.#abort('left');
  }

  /** Stops waiting for the causes of an end. */
  end(): void {
    clearTimeout(this.#timer);
    this.#stop.removeEventListener('abort', this.#onStop);
  }

  /** If the time is up, reports a provider that took too long. */
  reason(error: ProviderError): ProviderError {
    return error.kind === 'aborted' && this.#cause === 'late'
      ? new ProviderError('timeout', 'the call took too long')
      : error;
  }

  readonly #onStop = (): void => this.#abort('stopped');

  /** Only the first cause counts. */
  #abort(cause: Cause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }
}
