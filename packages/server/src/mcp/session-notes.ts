import { hash } from 'node:crypto';
import type { Store } from '@tallystick/store';

/** What the processes of a service tell each other about sessions of MCP. Errors are those of `Store`. */
export interface SessionNotes {
  has(session: string, note: string): Promise<boolean>;
  /** Resolves when every process can read the note. */
  add(session: string, note: string): Promise<void>;
}

/** Account of these notes in the store, which bounds their number. No caller has it. */
const ACCOUNT = 'mcp';
const KEY = 'noted';
const KEPT_SECONDS = 3_600;

/**
 * Keeps notes in the database, each for an hour and in a place of its own, so that reading one costs the same however many a client
 * has caused.
 * @param clock gives Unix milliseconds
 */
export function storedNotes({ compression }: Pick<Store, 'compression'>, clock: () => number): SessionNotes {
  const seconds = (): number => Math.floor(clock() / 1_000);
  return {
    has: async (session, note) => {
      const found = await compression.recall(ACCOUNT, placeOf(session, note), seconds());
      return found.has(KEY);
    },
    async add(session, note) {
      const now = seconds();
      const kept = { key: KEY, value: '1', replaces: null };
      await compression.remember(ACCOUNT, placeOf(session, note), [kept], {
        now,
        expiresAt: now + KEPT_SECONDS,
      });
    },
  };
}

/** The client chose the id, so that only its hash is stored. */
function placeOf(session: string, note: string): string {
  return `mcp:${hash('sha256', JSON.stringify([session, note]))}`;
}
