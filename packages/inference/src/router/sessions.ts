import { hash } from 'node:crypto';
import type { CompressionStore } from '../compression-store.ts';

/** Which model a session is pinned to: of the sessions used last, up to a limit. */
export interface Pins {
  get(session: string): string | null;
  set(session: string, model: string): void;
}

const CAPACITY = 10_000;

export function createPins(capacity = CAPACITY): Pins {
  const pins = new Map<string, string>();
  const set = (session: string, model: string): void => {
    pins.delete(session);
    pins.set(session, model);
    const oldest = pins.keys().next();
    if (pins.size > capacity && !oldest.done) pins.delete(oldest.value);
  };
  return { get: (session) => pins.get(session) ?? null, set };
}

/** Seconds for which a pin is stored after it was last written, and after which one that is in use is written again. */
const KEPT_SECONDS = 86_400;
const RENEW_SECONDS = 3_600;
const KEY = 'pin';

/** Pins that all processes of a database share. A pin is read before each call of its session, and written when it changes. */
export class SharedPins {
  readonly pins: Pins = createPins();
  readonly #store: Pick<CompressionStore, 'recall' | 'remember'>;
  /** Unix milliseconds. */
  readonly #clock: () => number;
  /** When this process wrote a pin, in Unix seconds. */
  readonly #written = new Map<string, number>();

  constructor(store: Pick<CompressionStore, 'recall' | 'remember'>, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Takes over the pin of a session from the store. Resolves to it; null where none is stored. */
  async read(account: string, session: string): Promise<string | null> {
    const stored = await this.#store.recall(account, placeOf(session), this.#now());
    const model = stored.get(KEY) ?? null;
    if (model !== null) this.pins.set(session, model);
    return model;
  }

  /**
   * Stores the pin of a session, unless another process changed it since it was `read`; the first one wins.
   * @returns the model that the session is pinned to now
   */
  async write(account: string, session: string, model: string, read: string | null): Promise<string> {
    const now = this.#now();
    const place = placeOf(session);
    if (model === read && now - (this.#written.get(place) ?? 0) < RENEW_SECONDS) return model;
    const note = { key: KEY, value: model, replaces: read };
    const standing = await this.#store.remember(account, place, [note], {
      now,
      expiresAt: now + KEPT_SECONDS,
    });
    this.#note(place, now);
    const pinned = standing.get(KEY) ?? model;
    this.pins.set(session, pinned);
    return pinned;
  }

  #note(place: string, now: number): void {
    this.#written.delete(place);
    this.#written.set(place, now);
    const oldest = this.#written.keys().next();
    if (this.#written.size > CAPACITY && !oldest.done) this.#written.delete(oldest.value);
  }

  #now(): number {
    return Math.floor(this.#clock() / 1_000);
  }
}

/** Of a pin among the notes of an account. The caller chose the session's name, so that only its hash is stored. */
function placeOf(session: string): string {
  return `session:${hash('sha256', session)}`;
}
