import { runEvery } from '@tallystick/kit';
import type { Health } from './health.ts';
import type { RestStore } from './rest-store.ts';

/** A rest is told within this time, and heard within another of it. */
const EVERY_MS = 1_000;

interface SharedHealth {
  readonly health: Pick<Health, 'resting' | 'hear'>;
  readonly store: Pick<RestStore, 'tell' | 'toldByOthers'>;
  /** Id of this process. */
  readonly process: string;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Tells other processes which models rest here, and hears which rest there, once a second, until the returned function
 * is called. It writes only what has changed. While the store cannot be reached, each process knows what it knew and
 * finds out the rest by itself.
 */
export function shareHealth(shared: SharedHealth): () => Promise<void> {
  let told = '';
  const exchange = async (): Promise<void> => {
    const { health, store, process } = shared;
    const rests = health.resting();
    const telling = JSON.stringify(rests.map(({ model, why, until }) => [model, why, until]));
    if (telling !== told && (rests.length > 0 || told !== '')) {
      await store.tell(process, rests);
      told = telling;
    }
    health.hear(await store.toldByOthers(process));
  };
  return runEvery(EVERY_MS, () => exchange().catch(shared.onFailure));
}
