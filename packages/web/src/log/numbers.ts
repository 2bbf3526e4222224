import { logProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';

/** Formats a count: `1,204`. */
export const count = (number: number): string => number.toLocaleString('en');

/** Formats a duration: `40 s`, `12 min`, `3 h`. */
export function duration(seconds: number): string {
  const { text } = prose;
  if (seconds < 120) return formatText(text.seconds, Math.max(Math.round(seconds), 0));
  if (seconds < 7200) return formatText(text.minutes, Math.round(seconds / 60));
  return formatText(text.hours, Math.round(seconds / 3600));
}

/** Formats a UTC time: `2026-11-21 09:20:30`. */
export const clockTime = (time: string): string => time.slice(0, 19).replace('T', ' ');

/** Shortens a hash: `0x3d23…a201`. */
export const shortened = (text: string): string => `${text.slice(0, 6)}…${text.slice(-4)}`;
