import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { medianOf } from './decayed.ts';
import { KINDS } from './kinds.ts';
import { learnedFrom } from './learned.ts';
import {
  formatMeasurement,
  type Measurement,
  measurementOf,
  merge,
  type Observation,
  observe,
  readMeasurement,
} from './measurement.ts';

const DAY = 86_400;
const NOW = 1_800_000_000;

const call = (changes: Partial<Observation> = {}): Observation => ({
  model: 'a/m',
  kind: 'code',
  tokens: 1_000,
  firstByteMs: null,
  tokensPerSecond: null,
  ...changes,
});

const observations = fc.array(
  fc.tuple(
    fc.record({
      model: fc.constant('a/m'),
      kind: fc.constantFrom(...KINDS, null),
      tokens: fc.option(fc.nat(1_000_000)),
      firstByteMs: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
      tokensPerSecond: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
    }),
    fc.nat(30 * DAY),
  ),
  { minLength: 1, maxLength: 60 },
);

function sumOf(calls: readonly (readonly [Observation, number])[]): Measurement {
  const each = calls.map(([one, after]) => measurementOf(one, NOW + after));
  return each.reduce((sum, one) => merge(sum, one));
}

it('takes observations of its moment in place as it would be merged with them', () => {
  fc.assert(
    fc.property(observations, (calls) => {
      const [[first] = [call()], ...more] = calls;
      const inPlace = measurementOf(first, NOW);
      for (const [one] of more) observe(inPlace, one);
      const merged = sumOf(calls.map(([one]) => [one, 0] as const));
      expect(numbersOf(inPlace)).toEqual(numbersOf(merged));
    }),
  );
});

/** The numbers of a measurement, which rounding may change a little. */
function numbersOf(measurement: Measurement): Record<string, number> {
  const { at, lengths, firstByte, speed, firstByteOf, speedOf } = measurement;
  return Object.fromEntries([
    ['at', at],
    ...Object.entries({ lengths, firstByteOf, speedOf }).flatMap(([name, sums]) =>
      [...sums].flatMap(([kind, { weight, sum }]) => [
        [`${name} ${kind} weight`, weight],
        [`${name} ${kind} sum`, sum],
      ]),
    ),
    ...[...firstByte].map(([bucket, weight]) => [`first ${bucket}`, weight]),
    ...[...speed].map(([bucket, weight]) => [`speed ${bucket}`, weight]),
  ]);
}

function expectSame(one: Measurement, other: Measurement): void {
  const [numbers, others] = [numbersOf(one), numbersOf(other)];
  for (const name of new Set([...Object.keys(numbers), ...Object.keys(others)])) {
    const [a, b] = [numbers[name] ?? 0, others[name] ?? 0];
    // What is next to nothing is forgotten at one step or another.
    expect(Math.abs(a - b), name).toBeLessThanOrEqual(0.01 + 1e-3 * Math.max(a, b));
  }
}

describe('what is measured of a model', () => {
  it('does not depend on the order in which processes add it', () => {
    fc.assert(
      fc.property(observations, observations, (some, more) => {
        const [one, other] = [sumOf(some), sumOf(more)];
        expectSame(merge(one, other), merge(other, one));
      }),
    );
  });

  it('is read as it was written, in little room', () => {
    fc.assert(
      fc.property(observations, (calls) => {
        const sum = sumOf(calls);
        const text = formatMeasurement(sum);
        expect(text.length).toBeLessThan(5_000);
        const read = readMeasurement(text);
        expect(read).not.toBeNull();
        if (read !== null) expectSame(read, sum);
      }),
    );
  });

  it('has room for every bucket that there is', () => {
    const all = Array.from({ length: 400 }, (_, step) => {
      const value = 2 ** (step / 16);
      return [
        call({ firstByteMs: value, tokensPerSecond: value, kind: KINDS[step % 11] ?? null }),
        0,
      ] as const;
    });
    const text = formatMeasurement(sumOf(all));
    expect(text.length).toBeLessThan(5_000);
    expect(readMeasurement(text)).not.toBeNull();
    expect(readMeasurement(text)?.firstByteOf.size).toBe(KINDS.length);
  });

  it('is read where it was written before times were told apart by kind', () => {
    const { first_byte_of, speed_of, ...older } = JSON.parse(
      formatMeasurement(measurementOf(call({ firstByteMs: 100 }), NOW)),
    ) as Record<string, unknown>;
    expect([first_byte_of, speed_of]).toEqual([[['code', 1, expect.closeTo(Math.log2(100), 3)]], []]);
    const read = readMeasurement(JSON.stringify(older));
    expect(read?.firstByte.size).toBe(1);
    expect(read?.firstByteOf.size).toBe(0);
  });

  it('counts for half after a week, and the times after an hour', () => {
    const first = measurementOf(call({ firstByteMs: 100 }), NOW);
    const later = (seconds: number) => merge(first, measurementOf(call({ kind: 'law' }), NOW + seconds));
    expect(later(7 * DAY).lengths.get('code')).toEqual({ weight: 0.5, sum: 500 });
    expect([...later(3_600).firstByte.values()]).toEqual([0.5]);
    expect(later(3_600).firstByteOf.get('code')?.weight).toBe(0.5);
    expect(later(365 * DAY).lengths.has('code')).toBe(false);
    // A process whose clock is behind takes nothing away.
    expect(later(-10).lengths.get('code')?.weight).toBe(1);
  });

  it('starts anew from what another release wrote in another form', () => {
    expect(readMeasurement('{"version":2}')).toBeNull();
  });

  it('has a median that is exact to a tenth', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 41 }),
        (values) => {
          const sum = sumOf(values.map((value) => [call({ firstByteMs: value }), 0]));
          const sorted = values.toSorted((a, b) => a - b);
          const exact = sorted[Math.ceil(values.length / 2) - 1] ?? 0;
          const median = medianOf(sum.firstByte) ?? 0;
          expect(Math.abs(median - exact)).toBeLessThanOrEqual(exact * 0.1);
        },
      ),
    );
  });
});

describe('the expected length of an answer', () => {
  const learned = (calls: readonly Observation[]) =>
    learnedFrom(new Map([['a/m', sumOf(calls.map((one) => [one, 0]))]]));
  const times = (count: number, one: Observation) => Array.from({ length: count }, () => one);

  it('is unknown of a model that nobody called', () => {
    expect(learned([call()]).expectedOutput('a/other', 'code', 256)).toBeNull();
    expect(learned([call({ tokens: null })]).expectedOutput('a/m', 'code', 256)).toBeNull();
  });

  it('goes from the assumption to what is measured, call by call', () => {
    const after = (count: number) =>
      learned(times(count, call({ kind: null }))).expectedOutput('a/m', null, 200);
    expect([1, 8, 72, 792].map(after)).toEqual([289, 600, 920, 992]);
  });

  it('is that of the kind of prompt, and of all kinds where the kind is new', () => {
    const known = learned([
      ...times(1_000, call({ kind: 'mathematics', tokens: 4_000 })),
      ...times(1_000, call({ kind: 'choice', tokens: 10 })),
    ]);
    expect(known.expectedOutput('a/m', 'mathematics', 256)).toBeGreaterThan(3_900);
    expect(known.expectedOutput('a/m', 'choice', 256)).toBeLessThan(50);
    expect(known.expectedOutput('a/m', 'law', 256)).toBeCloseTo(2_000, -2);
    expect(known.expectedOutput('a/m', null, 256)).toBeCloseTo(2_000, -2);
  });
});

describe('the time to the first byte, and the speed, of an answer', () => {
  const learned = (calls: readonly Observation[]) =>
    learnedFrom(new Map([['a/m', sumOf(calls.map((one) => [one, 0]))]]));
  const times = (count: number, kind: Observation['kind'], ms: number) =>
    Array.from({ length: count }, () => call({ kind, firstByteMs: ms, tokensPerSecond: ms }));
  const both = (known: ReturnType<typeof learned>, kind: Observation['kind']) => {
    const [first, speed] = [known.firstTokenMs('a/m', kind), known.tokensPerSecond('a/m', kind)];
    expect(Math.round(speed ?? 0)).toBe(first);
    return first ?? 0;
  };

  it('are those of the kind of prompt, and the medians where the kind is new or not known', () => {
    const known = learned([...times(1_000, 'code', 4_096), ...times(1_001, 'choice', 64)]);
    expect(both(known, 'code')).toBeGreaterThan(3_900);
    expect(both(known, 'choice')).toBe(64);
    for (const kind of ['law', null] as const) expect(both(known, kind)).toBe(64);
  });

  it('go from the median of all calls to that of the kind, call by call', () => {
    const after = (count: number) =>
      both(learned([...times(1_000, 'choice', 64), ...times(count, 'code', 4_096)]), 'code');
    // Eight calls count as much as the median: the geometric middle of 64 and 4,096.
    expect([1, 8, 792].map(after)).toEqual([102, 512, 3_929]);
  });

  it('are unknown of a model that nobody called', () => {
    expect(learned([call()]).firstTokenMs('a/m', 'code')).toBeNull();
    expect(learned(times(1, 'code', 64)).tokensPerSecond('a/other', 'code')).toBeNull();
  });
});
