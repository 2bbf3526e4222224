import { runEvery } from '@tallystick/kit';
import type { CompressionStore } from '../compression-store.ts';
import type { Health } from './health.ts';
import { WINDOW_MS } from './light.ts';
import type { ToldOutcomes } from './outcomes.ts';

/** What a process knows is told within this time, and heard within another of it. */
const EVERY_MS = 5_000;
/** Account of these notes in the store, and their place there. No caller has it. */
const ACCOUNT = 'outcomes';
const PLACE = 'models';

interface SharedOutcomes {
  readonly health: Pick<Health, 'outcomes' | 'hearOutcomes'>;
  readonly store: Pick<CompressionStore, 'remember' | 'recall'>;
  /** Id of this process. */
  readonly process: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** The note of a process. */
interface Told {
  /** When it was written, in Unix milliseconds of its process. */
  readonly at: number;
  readonly models: readonly ToldOutcomes[];
}

/**
 * Tells other processes how the calls of the last minutes ended here, and hears how theirs did, until the returned
 * function is called: so each process can say which models answer. It writes only what has changed.
 */
export function shareOutcomes(shared: SharedOutcomes): () => Promise<void> {
  const { health, store, process, clock, onFailure } = shared;
  let told = '[]';
  /** The stored note of this process. */
  let stored: string | null = null;
  const exchange = async (): Promise<void> => {
    const at = clock();
    const now = Math.floor(at / 1_000);
    const outcomes = health.outcomes();
    const telling = JSON.stringify(
      outcomes.map(({ model, lastAt, answered, failed }) => [model, lastAt, answered, failed]),
    );
    if (telling !== told) {
      const value = JSON.stringify({
        at,
        models: outcomes,
      } satisfies Told);
      const note = { key: process, value, replaces: stored };
      const notes = await store.remember(ACCOUNT, PLACE, [note], { now, expiresAt: now + WINDOW_MS / 1_000 });
      stored = notes.get(process) ?? null;
      if (stored === value) told = telling;
    }
    const notes = await store.recall(ACCOUNT, PLACE, now);
    notes.delete(process);
    health.hearOutcomes([...notes.values()].flatMap((note) => heardAt(JSON.parse(note) as Told, at)));
  };
  return runEvery(EVERY_MS, () => exchange().catch(onFailure));
}

function heardAt(told: Told, now: number): ToldOutcomes[] {
  const passed = Math.max(0, now - told.at);
  const later = (ms: number | null): number | null => (ms === null ? null : ms + passed);
  return told.models.map((one) => ({
    ...one,
    answeredMs: later(one.answeredMs),
    failedMs: later(one.failedMs),
  }));
}
