import { type ErrorCode, TallyError } from '@tallystick/core';

/** What no waiting mends: the log stops, and says so until an operator has acted and started it again. */
const faults: ReadonlySet<ErrorCode> = new Set([
  'log_mismatch',
  'log_behind',
  'log_corrupted',
  'chain_mismatch',
]);

/**
 * Whether the log may accept and sign in this process: once the start check has passed, and until a fault is found.
 */
export class LogReadiness {
  readonly #check: () => Promise<void>;
  #state: 'unchecked' | 'open' | TallyError = 'unchecked';

  /** @param check whether the data are the newest there are; rejects with a fault, or where it can't say yet */
  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** What was found wrong, for good. */
  get fault(): TallyError | null {
    return this.#state instanceof TallyError ? this.#state : null;
  }

  /** `ok`, or why nothing is accepted. */
  get reason(): string {
    if (this.#state === 'open') return 'ok';
    return this.#state === 'unchecked'
      ? 'the log has not yet been compared with what it has published, because its chain can’t be reached'
      : this.#state.message;
  }

  /** Runs the start check unless it has passed. Rejects with what the check rejects with. */
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

  /** Closes the gate for good if the error is a fault. Answers whether it is. */
  report(error: unknown): boolean {
    if (!(error instanceof TallyError) || !faults.has(error.code)) return false;
    this.#state = error;
    return true;
  }
}
