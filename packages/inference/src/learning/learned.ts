import { addSums, medianOf, type Sums } from './decayed.ts';
import type { PromptKind } from './kinds.ts';
import type { Measurement } from './measurement.ts';

/** What was measured of the models at one moment: it never changes. Null is for what is not known. */
export interface Learned {
  /**
   * Tokens of an answer, reasoning included, as a whole number: between `assumed`, and the mean of what was measured
   * for the kind of prompt.
   * @param model its id
   * @param kind null for a prompt of any kind
   * @param assumed tokens of an answer of a model of which nothing is known
   */
  expectedOutput(model: string, kind: PromptKind | null, assumed: number): number | null;
  /**
   * Milliseconds until an answer's first byte, as a whole number: the median of all calls, or between it and the
   * geometric mean of those with this kind of prompt.
   * @param kind null for a prompt of any kind
   */
  firstTokenMs(model: string, kind: PromptKind | null): number | null;
  /** Tokens a second of an answer, to one decimal, in the same way. */
  tokensPerSecond(model: string, kind: PromptKind | null): number | null;
}

export const NOTHING_LEARNED: Learned = {
  expectedOutput: () => null,
  firstTokenMs: () => null,
  tokensPerSecond: () => null,
};

/** Calls for which the assumed length counts, and for which what is known of all kinds counts for one of them. */
const PRIOR_CALLS = 8;

export function learnedFrom(measured: ReadonlyMap<string, Measurement>): Learned {
  const models = new Map([...measured].map(([model, measurement]) => [model, summaryOf(measurement)]));
  return {
    expectedOutput(model, kind, assumed) {
      const summary = models.get(model);
      if (summary?.all === undefined) return null;
      const ofAll = shrunk(summary.all, assumed);
      return Math.round(shrunk(kind === null ? undefined : summary.lengths.get(kind), ofAll));
    },
    firstTokenMs(model, kind) {
      const { firstByte = null, firstByteOf } = models.get(model) ?? {};
      return firstByte && Math.round(ofKind(firstByte, firstByteOf, kind));
    },
    tokensPerSecond(model, kind) {
      const { speed = null, speedOf } = models.get(model) ?? {};
      return speed && Math.round(10 * ofKind(speed, speedOf, kind)) / 10;
    },
  };
}

function summaryOf({ lengths, firstByte, speed, firstByteOf, speedOf }: Measurement) {
  const all = [...lengths.values()].reduce<Sums | undefined>(
    (sum, one) => addSums(sum, 1, one, 1),
    undefined,
  );
  return { lengths, all, firstByte: medianOf(firstByte), speed: medianOf(speed), firstByteOf, speedOf };
}

/** The median of all kinds, moved towards what was measured for one by as much as is known of it. */
function ofKind(
  median: number,
  logarithms: ReadonlyMap<PromptKind, Sums> | undefined,
  kind: PromptKind | null,
): number {
  const sums = kind === null ? undefined : logarithms?.get(kind);
  return sums === undefined ? median : 2 ** shrunk(sums, Math.log2(median));
}

/** The mean, drawn towards an assumption as if that had been seen in the first few calls. */
function shrunk(sums: Sums | undefined, assumed: number): number {
  const { weight = 0, sum = 0 } = sums ?? {};
  return (sum + PRIOR_CALLS * assumed) / (weight + PRIOR_CALLS);
}
