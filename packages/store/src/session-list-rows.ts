import type { ListedSession } from '@tallystick/receipts';

/** A session of an owner, or the part of it that was made with one key. */
export interface SessionSums extends ListedSession {
  readonly owner: string;
  /** Public id of the key; empty for all of the owner's session. */
  readonly key: string;
  /** Unix seconds at which the last of it expires. */
  readonly expiresAt: number;
}
