import { type ErrorCode, TallyError } from '@tallystick/core';

/** The faults that no retry can clear: the log stops, and reports the fault until an operator has acted and restarted it. */
const faults: ReadonlySet<ErrorCode> = new Set([
  'log_mismatch',
  'log_behind',
  'log_corrupted',
  'chain_mismatch',
]);

/** Whether the log may accept and sign in this process: from when the start check has passed until a fault is found. */
export class LogReadiness {
  readonly #check: () => Promise<void>;
  #state: 'unchecked' | 'open' | TallyError = 'unchecked';

  /** @param check whether the data are the newest there are; rejects with a fault, or when that cannot be known yet */
  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** The fault that was found. It stays. */
  get fault(): TallyError | null {
    return this.#state instanceof TallyError ? this.#state : null;
  }

  /** `ok`, or why nothing is accepted. */
  get reason(): string {
    if (this.#state === 'open') return 'ok';
    return this.#state === 'unchecked'
      ? 'the log has not yet been compared with what it has published, because its chain or its storage can’t be reached'
      : this.#state.message;
  }

  /** Runs the start check unless it has passed. Rejects with the check's error. */
  async pass(): Promise<void> {
    if (this.#state === 'open') return;
    if (this.#state instanceof TallyError) throw this.#state;
    try {
      await this.#check();
      if (this.#state === 'unchecked') this.#state = 'open';
    } catch (error) {
      this.report(error);
      throw error;
    }
  }

  /** Stops the log for good if the error is a fault. Returns whether it is. */
  report(error: unknown): boolean {
    if (!(error instanceof TallyError) || !faults.has(error.code)) return false;
    this.#state = error;
    return true;
  }
}
