/** A point in time: whole Unix seconds and the nanoseconds past them, [0, 1e9). */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

/** The form alone; whether the calendar has the date is checked separately. */
const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/**
 * Reads a UTC timestamp `YYYY-MM-DDThh:mm:ss[.f{1,9}]Z` (specification 2.2).
 * Returns null for another form, a date that the calendar lacks, or a leap second.
 */
export function parseTimestamp(text: string): Instant | null {
  if (!form.test(text)) return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const seconds = daysFromEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  return { seconds, nanos: text.length === 20 ? 0 : Number(text.slice(20, -1).padEnd(9, '0')) };
}

/** The number that two digits make. Receipts have several of them, and this is ten times as fast as captures. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}

/** Negative when `a` is earlier than `b`, 0 when they are the same instant, positive when later. */
export function compareInstants(a: Instant, b: Instant): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}

/** Writes Unix milliseconds as `YYYY-MM-DDThh:mm:ss.mmmZ`, or without the fraction when it is zero. */
export function formatTimestamp(unixMs: number): string {
  const seconds = Math.floor(unixMs / 1000);
  const ms = Math.floor(unixMs - seconds * 1000);
  const days = Math.floor(seconds / 86_400);
  const [year, month, day] = civilFromDays(days);
  const rest = seconds - days * 86_400;
  const time = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60].map(two).join(':');
  const fraction = ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${time}${fraction}Z`;
}

const two = (n: number): string => (n < 10 ? `0${n}` : String(n));

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

// Days are counted in 400-year eras of years that start in March, so that the leap day comes last.
function daysFromEpoch(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilFromDays(days: number): [year: number, month: number, day: number] {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const m = Math.floor((5 * dayOfYear + 2) / 153);
  const month = m < 10 ? m + 3 : m - 9;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - Math.floor((153 * m + 2) / 5) + 1];
}

/** The instant of a timestamp whose shape was checked before. */
export function instantOf(timestamp: string): Instant {
  const instant = parseTimestamp(timestamp);
  if (instant === null) throw new RangeError('The timestamp was not checked before it was read.');
  return instant;
}

/** The whole Unix seconds of a timestamp whose shape was checked before. */
export function secondsOf(timestamp: string): number {
  return instantOf(timestamp).seconds;
}
