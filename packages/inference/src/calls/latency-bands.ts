/** Bands of an octave, so that a percentile read from them is off by at most a tenth. */
const PER_OCTAVE = 4;
const MOST = 100;

/** The band of a call whose latency is not known. */
export const UNKNOWN_BAND = -1;

/** The band of a latency in milliseconds; band `b` from 1 on holds those from 2^((b-1)/4) up to 2^(b/4). */
export function bandOf(ms: number | null): number {
  if (ms === null) return UNKNOWN_BAND;
  return ms < 1 ? 0 : Math.min(MOST, Math.floor(Math.log2(ms) * PER_OCTAVE) + 1);
}

/** The bands that hold whole milliseconds, from the lowest on, each with the least of them. */
export function bandStarts(): (readonly [band: number, ms: number])[] {
  const starts: [number, number][] = [];
  for (let band = 0; band <= MOST; band += 1) {
    const ms = Math.ceil(within(band, 0));
    // A power that is computed may be off by its last digit.
    const least = [ms - 1, ms, ms + 1].find((one) => one >= 0 && bandOf(one) === band);
    if (least !== undefined) starts.push([band, least]);
  }
  return starts;
}

/**
 * The latency in milliseconds below which a share of the calls lies, placed evenly within its band.
 * @param bands number of calls by band, without `UNKNOWN_BAND`
 * @param share 0 to 1
 * @returns null if there are no calls
 */
export function percentile(bands: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...bands].toSorted(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, calls]) => sum + calls, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [band, calls] of sorted) {
    if (left <= calls) return Math.round(within(band, left / calls));
    left -= calls;
  }
  return null;
}

function within(band: number, part: number): number {
  return band === 0 ? part : 2 ** ((band - 1 + part) / PER_OCTAVE);
}
