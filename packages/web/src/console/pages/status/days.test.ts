import { expect, test } from 'vitest';
import { daysBetween, uptimeText } from './days.ts';

const day = (name: string, up: number, degraded: number, down: number, unknown = 0) => {
  return { day: name, up, degraded, down, unknown, uptime: null };
};

test('every day of a range is there, also over the change of a month, and says what was found', () => {
  const found = [
    day('2027-02-28', 1440, 0, 0),
    day('2027-03-01', 1400, 10, 30),
    day('2027-03-02', 10, 0, 1, 400),
    day('2027-03-03', 0, 0, 0, 9),
  ];
  expect(daysBetween('2027-02-27', '2027-03-03', found)).toEqual([
    { day: '2027-02-27', tone: 'unknown', text: 'nothing is known' },
    { day: '2027-02-28', tone: 'pass', text: 'up in all 1,440 checks' },
    { day: '2027-03-01', tone: 'warn', text: 'down in 30, degraded in 10 of 1,440 checks' },
    { day: '2027-03-02', tone: 'fail', text: 'down in 1 of 11 checks' },
    { day: '2027-03-03', tone: 'unknown', text: 'nothing is known' },
  ]);
});

test('what was not always up is never shown as 100 %', () => {
  expect([1, 0.99999, 0.5, 0, null].map(uptimeText)).toEqual(['100 %', '99.99 %', '50.00 %', '0.00 %', '–']);
});
