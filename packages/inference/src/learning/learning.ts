import { X402 } from '@tallystick/ledger';
import type { PromptKind } from './kinds.ts';
import { type Learned, learnedFrom, NOTHING_LEARNED } from './learned.ts';
import type { LearningStore, RateableCall, RatedCall, Rating } from './learning-store.ts';
import {
  formatMeasurement,
  type Measurement,
  measurementOf,
  merge,
  type OwnMeasurement,
  observe,
  readMeasurement,
} from './measurement.ts';
import { observationOf, type SettledCall } from './settled-call.ts';

/** Seconds by which the clocks of processes may differ. */
const CLOCK_SLACK = 30;
/** Prompts that are read from one `share` to the next only to tell their kind. */
const MOST_READ = 20;
/** Calls from one `share` to the next that can be rated later. */
const MOST_RATEABLE = 10_000;

/** Learns what calls came to, together with the other processes of the service. */
export class Learning {
  readonly #store: LearningStore;
  readonly #clock: () => number;
  readonly #ratingSeconds: number;
  /** What was stored last, by model, as text and as read. */
  readonly #shared = new Map<string, { readonly state: string; readonly measurement: Measurement }>();
  /** Of this process, and not stored yet. One entry for each model of the catalogue at most. */
  #pending = new Map<string, OwnMeasurement>();
  #rateable: RateableCall[] = [];
  #read = 0;
  #readTo = 0;
  #learned: Learned = NOTHING_LEARNED;

  /**
   * @param clock Unix milliseconds
   * @param ratingSeconds for which a call can be rated; 0 for never
   */
  constructor(store: LearningStore, clock: () => number, ratingSeconds: number) {
    this.#store = store;
    this.#clock = clock;
    this.#ratingSeconds = ratingSeconds;
  }

  /** What is known since the last `share`. */
  get learned(): Learned {
    return this.#learned;
  }

  /** Takes note of a call, in memory. */
  settled(call: SettledCall): void {
    const model = call.model.id;
    const now = this.#now();
    const observation = observationOf(call, this.#kindOf(call), this.#learned);
    const pending = this.#pending.get(model);
    if (pending?.at === now) observe(pending, observation);
    else this.#add(model, measurementOf(observation, now));
    const { account, arm } = call.lesson;
    // Whoever pays by x402 without a name can't be told from another.
    const canBeRated = this.#ratingSeconds > 0 && account !== X402 && this.#rateable.length < MOST_RATEABLE;
    if (!canBeRated) return;
    const expiresAt = now + this.#ratingSeconds;
    this.#rateable.push({ receiptId: call.receiptId, account, model, arm, expiresAt });
  }

  /**
   * Rates a call. One of the last second, which this process has made, is stored first.
   * @returns null where the account has no such call that can be rated
   */
  async rate(receiptId: string, account: string, rating: Rating): Promise<RatedCall | null> {
    if (this.#rateable.some((call) => call.receiptId === receiptId)) await this.share();
    return this.#store.rate(receiptId, account, rating, this.#now());
  }

  /**
   * Stores what was observed, and reads what others have. To be called once a second.
   * Measurements that could not be stored are kept for the next time.
   */
  async share(): Promise<void> {
    const observed = this.#pending;
    const rateable = this.#rateable;
    this.#pending = new Map();
    this.#rateable = [];
    this.#read = 0;
    try {
      if (rateable.length > 0) await this.#store.allowRatings(rateable);
      const more = (model: string, state: string | null): string => merged(state, observed.get(model));
      if (observed.size > 0) await this.#store.update([...observed.keys()], this.#now(), more);
    } catch (error) {
      for (const [model, measurement] of observed) this.#add(model, measurement);
      throw error;
    }
    await this.#readOthers();
  }

  async #readOthers(): Promise<void> {
    const rows = await this.#store.changed(this.#readTo - CLOCK_SLACK);
    for (const { at } of rows) this.#readTo = Math.max(this.#readTo, at);
    const news = rows.filter(({ model, state }) => this.#shared.get(model)?.state !== state);
    for (const { model, state } of news) {
      const measurement = readMeasurement(state);
      if (measurement !== null) this.#shared.set(model, { state, measurement });
    }
    if (news.length === 0) return;
    const measured = [...this.#shared].map(([model, { measurement }]) => [model, measurement] as const);
    this.#learned = learnedFrom(new Map(measured));
  }

  #add(model: string, measurement: OwnMeasurement): void {
    const pending = this.#pending.get(model);
    this.#pending.set(model, pending === undefined ? measurement : merge(pending, measurement));
  }

  /** Null for a prompt that is not worth reading. */
  #kindOf({ lesson: { isRead, kind } }: SettledCall): PromptKind | null {
    if (!isRead && this.#read++ >= MOST_READ) return null;
    return kind();
  }

  #now(): number {
    return Math.floor(this.#clock() / 1_000);
  }
}

function merged(state: string | null, more: Measurement | undefined): string {
  if (more === undefined) throw new RangeError('Only what was asked for is merged.');
  const before = state === null ? null : readMeasurement(state);
  return formatMeasurement(before === null ? more : merge(before, more));
}
