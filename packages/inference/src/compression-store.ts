/** Something that an account's conversation remembers: which units of a block were sent, never a text of a caller. */
export interface Note {
  /** Within the conversation. */
  readonly key: string;
  readonly value: string;
  /** The value that may be overwritten, as it was read; null where there was none. */
  readonly replaces: string | null;
}

/** Notes of one account, at most: those that expire first make room. */
export const MAX_NOTES = 4_096;

/**
 * In what form conversations were sent to providers, so that they are sent so again. Errors and ordering are those
 * of `Store`.
 *
 * Durability: what was written outlives the process, but not always the machine. What is lost costs some of a
 * provider's cache.
 */
export interface CompressionStore {
  /** All that is live at `now` (unix seconds), by its key. */
  recall(account: string, conversation: string, now: number): Promise<Map<string, string>>;
  /**
   * Writes each note unless another value than `replaces` stands there live: of several writers the first wins, in
   * whatever process. Answers what stands there then, which lives until `expiresAt`.
   */
  remember(
    account: string,
    conversation: string,
    notes: readonly Note[],
    time: { readonly now: number; readonly expiresAt: number },
  ): Promise<Map<string, string>>;
  /** Deletes what has expired at `now`, at most `limit`; answers how many. */
  purge(now: number, limit?: number): Promise<number>;
}
