import { setTimeout } from 'node:timers/promises';
import { TallyError } from '@tallystick/core';

interface Step {
  readonly what: string;
  readonly ms: number;
  close(): Promise<void>;
}

const STEP_MS = 5_000;
/** Milliseconds for each further step once one has hung: most likely the others wait for the same thing. */
const HASTY_MS = 2_000;

/** The opened parts of a service, which are closed in reverse order, each within its time. */
export class Closing {
  readonly #steps: Step[] = [];

  /** @param what names the step to an operator @param ms how long it may take, in milliseconds */
  push(close: () => Promise<void>, what = 'a part of the service', ms = STEP_MS): void {
    this.#steps.push({ close, what, ms });
  }

  /**
   * Closes everything. A step that fails or takes too long is logged and skipped.
   * @throws unavailable, naming the steps that failed or were skipped
   */
  async run(): Promise<void> {
    const faults: string[] = [];
    let hasty = false;
    for (const { what, ms, ...step } of this.#steps.splice(0).toReversed()) {
      const limit = hasty ? Math.min(HASTY_MS, ms) : ms;
      const fault = await attempt(() => step.close(), limit);
      hasty ||= fault === OVERDUE;
      if (fault !== null) faults.push(`${what} ${fault === OVERDUE ? `took more than ${limit} ms` : fault}`);
    }
    if (faults.length > 0) {
      throw new TallyError('unavailable', `The service did not shut down cleanly: ${faults.join('; ')}.`);
    }
  }
}

const OVERDUE = Symbol('overdue');

async function attempt(close: () => Promise<void>, ms: number): Promise<string | typeof OVERDUE | null> {
  const ended = new AbortController();
  try {
    return await Promise.race([
      close().then(() => null),
      setTimeout(ms, OVERDUE, { ref: true, signal: ended.signal }),
    ]);
  } catch (error) {
    return `failed (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    ended.abort();
  }
}
