import { TallyError, type TrustBundle, type TrustPin } from '@tallystick/core';
import { type CheckedTrust, checkTrust } from './check-trust.ts';

/** Trust remembered of one service: plain JSON. */
export interface SavedTrust {
  readonly pin: TrustPin;
  readonly bundle: TrustBundle;
}

/**
 * Where the trust in one service outlives the process: a file, local storage, a row. What was saved last is
 * what `load` gives; `save` resolves once that is so.
 */
export interface TrustStore {
  load(): Promise<SavedTrust | null>;
  save(saved: SavedTrust): Promise<void>;
}

/** A store that forgets with the process. */
export function memoryTrustStore(saved: SavedTrust | null = null): TrustStore {
  let held = saved;
  return {
    load: async () => held,
    save: async (next) => {
      held = next;
    },
  };
}

/**
 * Reads the content of a store and checks it again. @throws trust_unavailable where it holds nothing, and as
 * `checkTrust`
 */
export async function openTrustStore(store: TrustStore, now: number): Promise<CheckedTrust> {
  const saved = await store.load();
  if (saved === null) {
    throw new TallyError(
      'trust_unavailable',
      'The trust store holds nothing yet. Fill it once: client.fetchTrust().',
    );
  }
  return checkTrust(saved.bundle, { pin: saved.pin, now });
}
