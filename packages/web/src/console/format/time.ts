const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const year = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** A time in the reader's zone, in as few words as tell it: `14:03:09`, `3 Nov 14:03:09`, `3 Nov 2025`. */
export function shortTime(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return clock.format(at);
  return at.getFullYear() === now.getFullYear() ? `${day.format(at)} ${clock.format(at)}` : year.format(at);
}

/** A time in full: in the reader's zone with its name, and in UTC. */
export function fullTime(at: Date): string {
  const local = at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
  return `${local} · ${at.toISOString()}`;
}
