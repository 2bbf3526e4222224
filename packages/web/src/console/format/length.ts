/** A time in its largest unit, rounded down: `90 s`, `5 min`, `3 h`, `12 d`. */
export function lengthOf(seconds: number): string {
  if (seconds < 120) return `${Math.floor(Math.max(0, seconds))} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** How long ago a time was. @param now Unix milliseconds */
export const ageOf = (at: string, now: number): string => `${lengthOf((now - Date.parse(at)) / 1_000)} ago`;
