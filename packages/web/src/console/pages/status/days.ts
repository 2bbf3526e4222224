import type { Tone } from '../../components/state.tsx';
import { count, counted } from '../../format/number.ts';
import type { Day } from './documents.ts';

const DAY_MS = 86_400_000;
/** Share of a day's rounds from which on a day counts as one on which something was down. */
const DOWN_SHARE = 0.05;

/** A day of a range, with what was found on it. */
export interface DrawnDay {
  readonly day: string;
  readonly tone: Tone;
  /** What is said of it. */
  readonly text: string;
}

/** Every day from the first to the last, also those without a round. @param from as `2027-03-01` */
export function daysBetween(from: string, to: string, days: readonly Day[]): DrawnDay[] {
  const found = new Map(days.map((day) => [day.day, day]));
  const length = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length }, (_, at) => {
    const day = new Date(Date.parse(from) + at * DAY_MS).toISOString().slice(0, 10);
    return { day, ...verdictOn(found.get(day)) };
  });
}

function verdictOn(day: Day | undefined): Omit<DrawnDay, 'day'> {
  const { up = 0, degraded = 0, down = 0 } = day ?? {};
  const rounds = up + degraded + down;
  if (rounds === 0) return { tone: 'unknown', text: 'nothing is known' };
  if (down + degraded === 0)
    return {
      tone: 'pass',
      text: rounds === 1 ? 'up in the only check' : `up in all ${count(rounds)} checks`,
    };
  const tone = down / rounds > DOWN_SHARE ? 'fail' : 'warn';
  const parts = [down > 0 ? `down in ${down}` : '', degraded > 0 ? `degraded in ${degraded}` : ''];
  return { tone, text: `${parts.filter((part) => part !== '').join(', ')} of ${counted(rounds, 'check')}` };
}

/** A share as per cent, never rounded up to 100: `99.98 %`. */
export function uptimeText(uptime: number | null): string {
  if (uptime === null) return '–';
  return `${uptime === 1 ? '100' : (Math.floor(uptime * 10_000) / 100).toFixed(2)} %`;
}
