import type { SessionEntry, SessionVerification } from '@tallystick/core';
import { expect, test } from 'vitest';
import type { Call } from '../activity/documents.ts';
import { stepsOf } from './steps.ts';

const at = (second: number): string => new Date(Date.UTC(2027, 2, 1, 12, 0, second)).toISOString();

const call = (name: string, second: number): Call =>
  ({ id: name, receipt_id: `r_env_${name}`, at: at(second), total_ms: 500 }) as unknown as Call;

const entry = (seq: number, second: number, of: object): SessionEntry =>
  ({ line: seq + 1, seq, issued_at: at(second), call: of }) as unknown as SessionEntry;

const record = (entries: readonly SessionEntry[], faults: readonly object[] = []): SessionVerification =>
  ({ entries, faults }) as unknown as SessionVerification;

const names = (steps: ReturnType<typeof stepsOf>): string[] =>
  steps.map(({ entry, call, faults }) =>
    [
      ...(entry === null ? [] : [`#${entry.seq}`]),
      ...(call === null ? [] : [call.id]),
      ...faults.map(({ name }) => name),
    ].join(' '),
  );

const TOOL = { kind: 'tool' };

test('calls alone stand in the order of their time', () => {
  expect(names(stepsOf([call('b', 9), call('a', 3)], null))).toEqual(['a', 'b']);
});

test('a call that the record refers to is one step with it, the others stand where their time puts them', () => {
  const entries = [
    entry(0, 1, { kind: 'session' }),
    entry(1, 4, { kind: 'reference', receipt_id: 'r_env_a' }),
    entry(2, 8, TOOL),
  ];
  const steps = stepsOf([call('c', 20), call('b', 6), call('a', 3)], record(entries));
  expect(names(steps)).toEqual(['#0', '#1 a', 'b', '#2', 'c']);
});

test('what is missing stands where its number belongs, and faults of a line beside it', () => {
  const entries = [entry(0, 1, { kind: 'session' }), entry(3, 5, TOOL)];
  const faults = [
    { name: 'gap', line: null, seq: 1, detail: '' },
    { name: 'edited', line: 4, seq: 3, detail: '' },
  ];
  expect(names(stepsOf([], record(entries, faults)))).toEqual(['#0', 'gap', '#3 edited']);
});

test('tells pauses of a minute and longer, from the end of a step to the beginning of the next', () => {
  const steps = stepsOf([call('a', 0), call('b', 59), call('c', 120)], null);
  expect(steps.map(({ pause }) => pause)).toEqual([null, null, 60_500]);
});
