import { hash } from 'node:crypto';
import type { Store } from '@tallystick/store';

/** What the processes of a service tell each other about sessions of MCP. Errors are those of `Store`. */
export interface SessionNotes {
  /** All notes about a session. */
  of(session: string): Promise<ReadonlySet<string>>;
  /** Resolves when every process can read the note. */
  add(session: string, note: string): Promise<void>;
}

/** Account of these notes in the store, which bounds their number. No caller has it. */
const ACCOUNT = 'mcp';
const KEPT_SECONDS = 3_600;

/**
 * Keeps notes in the database, each for an hour.
 * @param clock gives Unix milliseconds
 */
export function storedNotes({ compression }: Pick<Store, 'compression'>, clock: () => number): SessionNotes {
  const seconds = (): number => Math.floor(clock() / 1_000);
  return {
    of: async (session) => new Set((await compression.recall(ACCOUNT, placeOf(session), seconds())).keys()),
    async add(session, key) {
      const now = seconds();
      const note = { key, value: '1', replaces: null };
      await compression.remember(ACCOUNT, placeOf(session), [note], { now, expiresAt: now + KEPT_SECONDS });
    },
  };
}

/** The client chose the id, so that only its hash is stored. */
function placeOf(session: string): string {
  return `mcp:${hash('sha256', session)}`;
}
