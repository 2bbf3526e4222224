import { z } from 'zod';
import { addSpread, addSums, bucketOf, type Spread, type Sums, share } from './decayed.ts';
import { KINDS, type PromptKind } from './kinds.ts';

/** One settled call. */
export interface Observation {
  /** Id of the model that answered. */
  readonly model: string;
  /** Null where the prompt was not read. */
  readonly kind: PromptKind | null;
  /** Billed tokens of one choice of the answer, reasoning included; null where it may have been cut. */
  readonly tokens: number | null;
  /** Milliseconds until the first byte; null of an answer in one piece. */
  readonly firstByteMs: number | null;
  /** Tokens a second; null where they say nothing of the model's speed. */
  readonly tokensPerSecond: number | null;
}

/** What was measured of one model until a moment. */
export interface Measurement {
  /** Unix seconds. */
  readonly at: number;
  /** Lengths of answers by kind of prompt, in tokens; `any` of prompts that were not read. */
  readonly lengths: ReadonlyMap<PromptKind | 'any', Sums>;
  /** Milliseconds until the first byte. */
  readonly firstByte: Spread;
  /** Tokens a second. */
  readonly speed: Spread;
  /** The same two by kind of prompt: sums of their binary logarithms, since a spread for each kind would not fit. */
  readonly firstByteOf: ReadonlyMap<PromptKind, Sums>;
  readonly speedOf: ReadonlyMap<PromptKind, Sums>;
}

/** A measurement to which its holder may add observations in place. */
export interface OwnMeasurement extends Measurement {
  readonly lengths: Map<PromptKind | 'any', Sums>;
  readonly firstByte: Map<number, number>;
  readonly speed: Map<number, number>;
  readonly firstByteOf: Map<PromptKind, Sums>;
  readonly speedOf: Map<PromptKind, Sums>;
}

/** Seconds after which a length counts for half: what models are asked changes slowly. */
const LENGTH_HALF_LIFE = 7 * 86_400;
/** Seconds after which a time counts for half: a provider's load changes within the day. */
const SPEED_HALF_LIFE = 3_600;

/** Longest time, and highest speed, that is told apart. */
const MOST = 3_600_000;

export function measurementOf(observation: Observation, at: number): OwnMeasurement {
  const none = {
    at,
    lengths: new Map(),
    firstByte: new Map(),
    speed: new Map(),
    firstByteOf: new Map(),
    speedOf: new Map(),
  };
  observe(none, observation);
  return none;
}

/** Adds an observation of the moment of a measurement to it, which each call of a model does. */
export function observe(
  to: OwnMeasurement,
  { kind, tokens, firstByteMs, tokensPerSecond }: Observation,
): void {
  if (tokens !== null) addOne(to.lengths, kind ?? 'any', tokens);
  addTime(to.firstByte, to.firstByteOf, kind, firstByteMs);
  addTime(to.speed, to.speedOf, kind, tokensPerSecond);
}

function addTime(
  spread: Map<number, number>,
  byKind: Map<PromptKind, Sums>,
  kind: PromptKind | null,
  value: number | null,
): void {
  if (value === null) return;
  const bucket = bucketOf(limited(value));
  spread.set(bucket, (spread.get(bucket) ?? 0) + 1);
  if (kind !== null) addOne(byKind, kind, Math.log2(limited(value)));
}

function addOne<Kind>(to: Map<Kind, Sums>, kind: Kind, value: number): void {
  const { weight = 0, sum = 0 } = to.get(kind) ?? {};
  to.set(kind, { weight: weight + 1, sum: sum + value });
}

function limited(value: number): number {
  return Math.min(MOST, Math.max(1, value));
}

/** Both together, as of the later moment. The order of merging does not matter, but for rounding. */
export function merge(one: Measurement, other: Measurement): OwnMeasurement {
  const at = Math.max(one.at, other.at);
  const shares = (halfLife: number) =>
    [share(at - one.at, halfLife), share(at - other.at, halfLife)] as const;
  const ofTimes = shares(SPEED_HALF_LIFE);
  const [timesOfOne, timesOfOther] = ofTimes;
  const add = <Kind extends PromptKind | 'any'>(
    kinds: readonly Kind[],
    some: ReadonlyMap<Kind, Sums>,
    more: ReadonlyMap<Kind, Sums>,
    [someShare, moreShare]: readonly [number, number],
  ): Map<Kind, Sums> => {
    const sums = kinds.map(
      (kind) => [kind, addSums(some.get(kind), someShare, more.get(kind), moreShare)] as const,
    );
    return new Map(sums.flatMap(([kind, both]) => (both === undefined ? [] : [[kind, both] as const])));
  };
  return {
    at,
    lengths: add(LENGTHS, one.lengths, other.lengths, shares(LENGTH_HALF_LIFE)),
    firstByte: addSpread(one.firstByte, timesOfOne, other.firstByte, timesOfOther),
    speed: addSpread(one.speed, timesOfOne, other.speed, timesOfOther),
    firstByteOf: add(KINDS, one.firstByteOf, other.firstByteOf, ofTimes),
    speedOf: add(KINDS, one.speedOf, other.speedOf, ofTimes),
  };
}

const LENGTHS = [...KINDS, 'any'] as const;

const amount = z.number().min(0);
const buckets = z.array(z.tuple([z.int(), amount])).max(200);
const byKind = z.array(z.tuple([z.string(), amount, amount])).max(100);
const stored = z.strictObject({
  at: z.int(),
  lengths: byKind,
  first_byte: buckets,
  speed: buckets,
  // Absent from rows that are older than these members.
  first_byte_of: byKind.default([]),
  speed_of: byKind.default([]),
});

/** JSON of at most 5 kB. */
export function formatMeasurement(measurement: Measurement): string {
  const { at, lengths, firstByte, speed, firstByteOf, speedOf } = measurement;
  const sumsOf = (some: ReadonlyMap<string, Sums>) =>
    [...some].map(([kind, { weight, sum }]) => [kind, brief(weight), brief(sum)]);
  const bucketsOf = (some: Spread) => [...some].map(([bucket, weight]) => [bucket, brief(weight)]);
  return JSON.stringify({
    at,
    lengths: sumsOf(lengths),
    first_byte: bucketsOf(firstByte),
    speed: bucketsOf(speed),
    first_byte_of: sumsOf(firstByteOf),
    speed_of: sumsOf(speedOf),
  });
}

/** Null for text that another release wrote in another form: then learning starts anew. */
export function readMeasurement(text: string): Measurement | null {
  const { success, data } = stored.safeParse(JSON.parse(text));
  if (!success) return null;
  return {
    at: data.at,
    lengths: knownOf(LENGTHS, data.lengths),
    firstByte: new Map(data.first_byte),
    speed: new Map(data.speed),
    firstByteOf: knownOf(KINDS, data.first_byte_of),
    speedOf: knownOf(KINDS, data.speed_of),
  };
}

/** Without the kinds of another release. */
function knownOf<Kind extends string>(
  kinds: readonly Kind[],
  rows: z.infer<typeof byKind>,
): ReadonlyMap<Kind, Sums> {
  const known = rows.flatMap(([name, weight, sum]) => {
    const kind = kinds.find((one) => one === name);
    return kind === undefined ? [] : [[kind, { weight, sum }] as const];
  });
  return new Map(known);
}

function brief(value: number): number {
  return Number(value.toPrecision(6));
}
