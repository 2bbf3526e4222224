import { ProviderError } from './provider.ts';

/** A key of the operator at a provider. */
export interface ApiKey {
  readonly key: string;
  /** Share of the calls, in proportion to the other keys' weights. */
  readonly weight: number;
}

/** Milliseconds for which a key rests that the provider does not let in. */
const REFUSED_MS = 60_000;
/** Milliseconds for which a key rests after a 429 that does not say how long to wait. */
const LIMITED_MS = 5_000;

interface Slot {
  /** Null for a provider that is called without a key. */
  readonly key: string | null;
  readonly weight: number;
  /** Position in the weighted rotation. */
  current: number;
  /** Until when the key rests: for a model, or for all of them (`null`). Milliseconds of `now`. */
  readonly until: Map<string | null, number>;
}

/**
 * The keys of one provider. Calls take turns by weight; a key that the provider does not admit for now rests alone. The
 * limits of one key count for each model by itself.
 */
export class ApiKeys {
  readonly #slots: readonly Slot[];
  readonly #now: () => number;

  /** @param now milliseconds that never go back */
  constructor(keys: readonly ApiKey[], now: () => number = () => performance.now()) {
    const given = keys.length > 0 ? keys : [{ key: null, weight: 1 }];
    this.#slots = given.map((one) => ({ ...one, current: 0, until: new Map<string | null, number>() }));
    this.#now = now;
  }

  get secrets(): readonly string[] {
    return this.#slots.flatMap(({ key }) => key ?? []);
  }

  /**
   * Asks with one key after the other until one is admitted. A key that rests is used only if all do.
   * @throws ProviderError: what `ask` throws that is not about the key; else that of the keys, which says when the first
   * of them may be used again
   */
  async use<T>(model: string, ask: (key: string | null) => Promise<T>): Promise<T> {
    const failures: ProviderError[] = [];
    const tried = new Set<Slot>();
    for (let slot = this.#first(model); slot !== null; slot = this.#turn(model, tried)) {
      tried.add(slot);
      try {
        return await ask(slot.key);
      } catch (error) {
        if (!(error instanceof ProviderError) || !this.#rests(slot, model, error)) throw error;
        failures.push(error);
      }
    }
    const worst = failures.find(({ kind }) => kind === 'rate_limited') ?? failures.at(-1);
    if (worst === undefined) throw new RangeError('The first key is always asked with.');
    const { kind, message, status } = worst;
    throw new ProviderError(kind, message, {
      status: status ?? undefined,
      retryAfterMs: this.limitedMs(model),
    });
  }

  /** Lets a key rest for a model, because the provider said how long it admits no more. */
  limit(key: string | null, model: string, milliseconds: number): void {
    const slot = this.#slots.find((one) => one.key === key);
    if (slot !== undefined) this.#rest(slot, model, milliseconds);
  }

  /** Milliseconds until a key admits calls of the model again; 0 if one does. */
  limitedMs(model: string): number {
    return Math.max(0, Math.min(...this.#slots.map((slot) => untilOf(slot, model))) - this.#now());
  }

  /** Whether the failure is about the key, which then rests. A single key has nobody to rest for. */
  #rests(slot: Slot, model: string, { kind, retryAfterMs }: ProviderError): boolean {
    if (this.#slots.length === 1) return false;
    if (kind === 'auth') this.#rest(slot, null, REFUSED_MS);
    else if (kind === 'rate_limited') this.#rest(slot, model, retryAfterMs ?? LIMITED_MS);
    else return false;
    return true;
  }

  #rest(slot: Slot, model: string | null, milliseconds: number): void {
    slot.until.set(model, Math.max(slot.until.get(model) ?? 0, this.#now() + milliseconds));
  }

  #first(model: string): Slot | null {
    const soonest = this.#slots.toSorted((a, b) => untilOf(a, model) - untilOf(b, model))[0];
    return this.#turn(model, new Set()) ?? soonest ?? null;
  }

  /** The next key of a smooth weighted rotation over those that do not rest and were not tried; null if there is none. */
  #turn(model: string, tried: ReadonlySet<Slot>): Slot | null {
    const now = this.#now();
    const ready = this.#slots.filter((slot) => untilOf(slot, model) <= now && !tried.has(slot));
    const [next = null] = ready.toSorted((a, b) => b.current + b.weight - (a.current + a.weight));
    if (next === null) return null;
    for (const slot of ready) slot.current += slot.weight;
    next.current -= ready.reduce((sum, { weight }) => sum + weight, 0);
    return next;
  }
}

function untilOf({ until }: Slot, model: string): number {
  return Math.max(until.get(null) ?? 0, until.get(model) ?? 0);
}
