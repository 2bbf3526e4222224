/**
 * One remembered fact about an account's conversation: which units of a block were sent, never a caller's text; or an item
 * of an answer, encrypted for who was given it (`KeptItems`); or the model of a session (`SharedPins`). The server also notes
 * here which sessions of MCP have ended.
 */
export interface Note {
  /** Unique within the conversation. */
  readonly key: string;
  readonly value: string;
  /** The value that may be overwritten, as it was read; null where there was none. */
  readonly replaces: string | null;
}

/** Most notes of one account. Those that expire first make room. */
export const MAX_NOTES = 4_096;

/**
 * Remembers in what form conversations were sent to providers, so that later calls send them in the same form. Errors
 * and ordering are those of `Store`. Durability: a write survives the process, but not always the machine. A lost note
 * costs some of a provider's cache.
 */
export interface CompressionStore {
  /** All notes that are live at `now` (unix seconds), by key. */
  recall(account: string, conversation: string, now: number): Promise<Map<string, string>>;
  /**
   * Writes each note unless a live value other than `replaces` is stored: of several writers, in any process, the first
   * wins. Returns what is stored then, which lives until `expiresAt`.
   */
  remember(
    account: string,
    conversation: string,
    notes: readonly Note[],
    time: { readonly now: number; readonly expiresAt: number },
  ): Promise<Map<string, string>>;
  /** Deletes at most `limit` notes that have expired at `now`; returns how many. */
  purge(now: number, limit?: number): Promise<number>;
}
