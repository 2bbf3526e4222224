import { secondsOf } from '@tallystick/core';
import { statusProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';

/** Formats a duration in its largest unit, rounded down: `90 s`, `5 min`, `3 h`, `12 d`. */
export function lengthOf(seconds: number): string {
  const { text } = prose;
  if (seconds < 120) return formatText(text.seconds, Math.floor(seconds));
  if (seconds < 7_200) return formatText(text.minutes, Math.floor(seconds / 60));
  if (seconds < 172_800) return formatText(text.hours, Math.floor(seconds / 3_600));
  return formatText(text.days, Math.floor(seconds / 86_400));
}

/** Returns how long ago a time in UTC was. @param now Unix milliseconds */
export function ageOf(time: string, now: number): string {
  return formatText(prose.text.ago, lengthOf(Math.max(0, now / 1000 - secondsOf(time))));
}

/** Formats a UTC time to the minute: `2026-11-21 18:02`. */
export const minuteOf = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}`;
