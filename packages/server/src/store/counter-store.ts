/** `used` counts this consumption when it was allowed. */
export interface ConsumeOutcome {
  allowed: boolean;
  used: number;
}

/** Counters with a limit. Durability, ordering and errors are those of `Store`. */
export interface CounterStore {
  /**
   * Counts `counter` up by one unless that would pass `limit`: atomic over all processes. The `expiresAt`
   * of the first use stays; a counter starts again from nothing once purged.
   */
  consume(counter: string, limit: number, expiresAt: number): Promise<ConsumeOutcome>;
}
