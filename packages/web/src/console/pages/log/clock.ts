import { useEffect, useState } from 'preact/hooks';

/** The time, Unix milliseconds, a second apart. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** A length of time, to the second up to an hour: `40 s`, `12 min 5 s`, `3 h 2 min`, `2 d 4 h`. */
export function longDuration(seconds: number): string {
  const [days, hours, minutes] = [seconds / 86_400, seconds / 3_600, seconds / 60].map(Math.floor);
  const parts = (large: string, small: number, unit: string): string =>
    small === 0 ? large : `${large} ${small} ${unit}`;
  if (days) return parts(`${days} d`, (hours ?? 0) % 24, 'h');
  if (hours) return parts(`${hours} h`, (minutes ?? 0) % 60, 'min');
  if (minutes) return parts(`${minutes} min`, Math.floor(seconds % 60), 's');
  return `${Math.floor(seconds)} s`;
}
