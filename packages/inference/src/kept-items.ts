import { createHmac } from 'node:crypto';
import { canonicalBytes, type JsonObject, parseJson } from '@tallystick/core';
import { seal, unseal } from '@tallystick/kit';
import type { CompressionStore } from './compression-store.ts';
import { asText } from './providers/members.ts';

/** Seconds for which an item is kept. */
const KEPT_SECONDS = 86_400;
/** An id that is shorter could be guessed: it is the only key to its item. */
const MIN_ID = 24;
const MAX_ITEM_BYTES = 1_048_576;
/** Most items that one request may refer to. */
const MAX_REFERENCES = 1_000;
const KEY = 'item';

/**
 * Keeps items of answers for a day, for clients that refer to them by id in place of sending them again. An item is
 * stored under a hash of its id and encrypted with a key that follows from the id, which is stored nowhere: only who was
 * given the answer can read it again. Both also follow from the caller's credential: ids that a provider chose may come twice.
 */
export class KeptItems {
  readonly #store: Pick<CompressionStore, 'remember' | 'recall'>;
  /** Unix milliseconds. */
  readonly #clock: () => number;

  constructor(store: Pick<CompressionStore, 'remember' | 'recall'>, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Keeps each item that has an id; one of over 1 MiB is not kept. @param credential of the caller; empty if there is none */
  async keep(items: readonly JsonObject[], credential: string): Promise<void> {
    const now = this.#now();
    for (const item of items) {
      const id = asText(item['id']) ?? '';
      const bytes = canonicalBytes(item);
      if (id.length < MIN_ID || bytes.length > MAX_ITEM_BYTES) continue;
      const sealed = seal(keyOf(secretOf(id, credential)), bytes);
      const note = { key: KEY, value: sealed.toString('base64'), replaces: null };
      await this.#store.remember(placeOf(secretOf(id, credential)), KEY, [note], {
        now,
        expiresAt: now + KEPT_SECONDS,
      });
    }
  }

  /** The items that are still kept, by id; of the first thousand. */
  async find(ids: readonly string[], credential: string): Promise<ReadonlyMap<string, JsonObject>> {
    const found = new Map<string, JsonObject>();
    for (const id of new Set(ids.slice(0, MAX_REFERENCES))) {
      const secret = secretOf(id, credential);
      const sealed = (await this.#store.recall(placeOf(secret), KEY, this.#now())).get(KEY);
      if (sealed === undefined) continue;
      found.set(id, parseJson(unseal(keyOf(secret), Buffer.from(sealed, 'base64'))) as JsonObject);
    }
    return found;
  }

  #now(): number {
    return Math.floor(this.#clock() / 1_000);
  }
}

/** What place and key of an item follow from. */
function secretOf(id: string, credential: string): Buffer {
  return createHmac('sha256', id).update(credential).digest();
}

/** Each item has an account of its own in the store, so that no caller's items make room for another's. */
function placeOf(secret: Buffer): string {
  return `kept:${createHmac('sha256', secret).update('place').digest('hex')}`;
}

function keyOf(secret: Buffer): Buffer {
  return createHmac('sha256', secret).update('key').digest();
}
