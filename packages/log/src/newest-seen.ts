import { equalBytes, TallyError } from '@tallystick/core';
import type { StoredCheckpoint, TreeHead } from './log-store.ts';

/**
 * The newest checkpoint that this process has read or signed. A database that is restored, or replaced by a standby that
 * lags, under processes that run has lost what they know: they must not sign another history of the log.
 */
export class NewestSeen {
  #newest: TreeHead | null = null;

  /**
   * Compares the newest checkpoint in the database with the newest that was seen, and remembers it.
   * @throws log_behind where the database has an older one; log_corrupted where it has one of another tree of that size
   */
  require(stored: StoredCheckpoint | null): void {
    const seen = this.#newest;
    const size = stored?.size ?? 0;
    if (seen !== null && size < seen.size) {
      throw new TallyError(
        'log_behind',
        `A checkpoint of ${seen.size} leaves was signed, but the newest in the database has ${size}. Restore the newest data.`,
      );
    }
    if (seen !== null && stored !== null && size === seen.size && !equalBytes(stored.root, seen.root)) {
      throw new TallyError('log_corrupted', `Another tree of ${size} leaves was signed than the one stored.`);
    }
    if (stored !== null) this.#newest = { size, root: stored.root };
  }
}
