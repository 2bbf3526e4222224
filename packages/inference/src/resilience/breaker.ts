/** Times in milliseconds. */
export interface BreakerPolicy {
  /** How long outcomes count. */
  readonly windowMs: number;
  /** Number of failures that opens it, if they are at least half of the outcomes. */
  readonly failures: number;
  /** How long it stays open at first; doubled each time it opens again without a success in between. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export const defaultBreakerPolicy: BreakerPolicy = {
  windowMs: 30_000,
  failures: 5,
  openMs: 2_000,
  maxOpenMs: 60_000,
};

/** Most outcomes that are kept. */
const maxOutcomes = 64;

/**
 * A circuit breaker. Closed, it counts outcomes; open, it lets nothing through. After its time, calls go through again,
 * and the first outcome decides: a success closes it, a failure opens it for longer.
 */
export class Breaker {
  readonly #policy: BreakerPolicy;
  #outcomes: { readonly at: number; readonly failed: boolean }[] = [];
  #openUntil = 0;
  /** How often it has opened since the last success. */
  #opened = 0;

  constructor(policy: BreakerPolicy) {
    this.#policy = policy;
  }

  available(now: number): boolean {
    return now >= this.#openUntil;
  }

  success(now: number): void {
    // A call that was already under way when it opened says nothing about the time after.
    if (!this.available(now)) return;
    if (this.#opened > 0) this.#outcomes = [];
    this.#opened = 0;
    this.#record(now, false);
  }

  failure(now: number): void {
    if (!this.available(now)) return;
    this.#record(now, true);
    const failures = this.#outcomes.filter(({ failed }) => failed).length;
    const { failures: limit, openMs, maxOpenMs } = this.#policy;
    if (this.#opened === 0 && (failures < limit || failures * 2 < this.#outcomes.length)) return;
    this.rest(now, Math.min(maxOpenMs, openMs * 2 ** this.#opened));
    this.#opened += 1;
  }

  /** Opens it, whatever was counted, for a time that the policy limits. */
  rest(now: number, milliseconds: number): void {
    this.#openUntil = Math.max(this.#openUntil, now + Math.min(milliseconds, this.#policy.maxOpenMs));
  }

  /** Closes it and forgets what was counted. */
  close(): void {
    this.#openUntil = 0;
    this.#opened = 0;
    this.#outcomes = [];
  }

  /** Milliseconds until calls go through again; 0 if they do. */
  remaining(now: number): number {
    return Math.max(0, this.#openUntil - now);
  }

  #record(at: number, failed: boolean): void {
    const since = at - this.#policy.windowMs;
    while ((this.#outcomes[0]?.at ?? at) <= since || this.#outcomes.length >= maxOutcomes)
      this.#outcomes.shift();
    this.#outcomes.push({ at, failed });
  }
}
