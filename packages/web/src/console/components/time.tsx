import type { JSX } from 'preact';
import { fullTime, shortTime } from '../format/time.ts';

/** A time in the reader's zone; in full, and in UTC, on hover. @param at RFC 3339 */
export function Time({ at }: { readonly at: string }): JSX.Element {
  const time = new Date(at);
  return (
    <time dateTime={at} title={fullTime(time)}>
      {shortTime(time, new Date())}
    </time>
  );
}
