import type { JSX } from 'preact';
import { query, setQuery } from '../../router.ts';

/** The UTC days of the address, both included; empty where there is no such end. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

export function daysIn(members: URLSearchParams): Days {
  const day = (name: string): string => {
    const text = members.get(name) ?? '';
    return DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : '';
  };
  return { from: day('from'), to: day('to') };
}

/** The days as a list takes them, which ends before `to`. */
export function period({ from, to }: Days): { from: string | null; to: string | null } {
  const end = to === '' ? null : new Date(Date.parse(to) + 86_400_000).toISOString();
  return { from: from === '' ? null : `${from}T00:00:00Z`, to: end };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The days of a month, counted from this one: 0, −1. */
function monthOf(now: Date, by: number): Days {
  const at = (month: number, day: number): string => dayOf(Date.UTC(now.getUTCFullYear(), month, day));
  return { from: at(now.getUTCMonth() + by, 1), to: at(now.getUTCMonth() + by + 1, 0) };
}

/** Chooses the days of a statement, in the address. */
export function DayPicker(): JSX.Element {
  const days = daysIn(query.value);
  const now = new Date();
  const choices: readonly (readonly [title: string, days: Days])[] = [
    ['All', { from: '', to: '' }],
    ['This month', monthOf(now, 0)],
    ['Last month', monthOf(now, -1)],
  ];
  const set = ({ from, to }: Partial<Days>): void =>
    setQuery({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }, 'replace');
  return (
    <div class="days">
      <div class="ways" role="group" aria-label="Days">
        {choices.map(([title, choice]) => (
          <button
            type="button"
            key={title}
            aria-pressed={choice.from === days.from && choice.to === days.to}
            onClick={() => set(choice)}
          >
            {title}
          </button>
        ))}
      </div>
      <span class="fine">Days in UTC</span>
      <label>
        <span>From</span>
        <input
          type="date"
          value={days.from}
          max={days.to}
          onChange={({ currentTarget }) => set({ from: currentTarget.value })}
        />
      </label>
      <label>
        <span>to</span>
        <input
          type="date"
          value={days.to}
          min={days.from}
          onChange={({ currentTarget }) => set({ to: currentTarget.value })}
        />
      </label>
    </div>
  );
}
