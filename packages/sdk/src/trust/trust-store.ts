import { readTrustPin, TallyError, type TrustBundle, type TrustPin } from '@tallystick/core';
import { type CheckedTrust, checkTrust } from './check-trust.ts';

/** Remembered trust in one service, as plain JSON. */
export interface SavedTrust {
  readonly pin: TrustPin;
  readonly bundle: TrustBundle;
}

/**
 * A store that keeps the trust in one service beyond the process: a file, local storage, a row. `load` returns what was
 * saved last, null only if nothing was: it rejects if it can't read that, since without a pin any bundle would pass. `save` resolves once
 * it is stored.
 */
export interface TrustStore {
  load(): Promise<SavedTrust | null>;
  save(saved: SavedTrust): Promise<void>;
}

/** A store that lasts as long as the process. */
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
 * The pin of what a store holds; undefined if it holds nothing.
 * @throws trust_invalid if the pin is damaged
 */
export function pinIn(saved: SavedTrust | null): TrustPin | undefined {
  return saved ? readTrustPin(saved.pin) : undefined;
}

/**
 * Reads the contents of a store and checks them again. @throws trust_unavailable if it is empty, and as
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
  return checkTrust(saved.bundle, { pin: pinIn(saved), now });
}
