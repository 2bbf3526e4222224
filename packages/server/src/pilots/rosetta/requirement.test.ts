import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Term, TermValue } from './concepts.ts';
import { meets, nearest, type Requirement } from './requirement.ts';

const hours: Term = { kind: 'quantity', unit: 'hour', says: '' };
const flag: Term = { kind: 'flag', says: '' };
const level: Term = { kind: 'level', values: ['none', 'some', 'all'], says: '' };
const choice: Term = { kind: 'choice', values: ['a', 'b', 'c'], says: '' };

const most = (value: number): Requirement => ({ op: 'at_most', value });
const least = (value: number): Requirement => ({ op: 'at_least', value });
const upTo = (value: string): Requirement => ({ op: 'at_least_level', value });
const among = (...value: string[]): Requirement => ({ op: 'one_of', value });

describe('a requirement', () => {
  it.each<[Term, Requirement, TermValue, boolean]>([
    [hours, most(72), 72, true],
    [hours, most(72), 73, false],
    // As numbers, not as text.
    [hours, most(72), 100, false],
    [hours, most(100), 72, true],
    [hours, least(9), 10, true],
    [hours, least(10), 9, false],
    [hours, least(0), 0, true],
    [flag, { op: 'equals', value: true }, true, true],
    [flag, { op: 'equals', value: true }, false, false],
    [flag, { op: 'equals', value: false }, true, false],
    [level, upTo('some'), 'none', false],
    [level, upTo('some'), 'some', true],
    [level, upTo('some'), 'all', true],
    [choice, among('a', 'b'), 'b', true],
    [choice, among('a', 'b'), 'c', false],
  ])('of %j: %j and %j', (term, requirement, value, expected) => {
    expect(meets(term, requirement, value)).toBe(expected);
  });
});

describe('the nearest value', () => {
  it.each<[string, Term, Requirement[], TermValue, TermValue | null]>([
    ['is the value itself where nothing asks for more', hours, [], 5, 5],
    ['is the lowest of several ceilings', hours, [most(72), most(6), most(360)], 100, 6],
    ['is the highest of several floors', hours, [least(6), least(12)], 1, 12],
    ['stays between floor and ceiling', hours, [least(365), most(1095)], 400, 400],
    ['moves to the floor', hours, [least(365), most(1095)], 90, 365],
    ['moves to the ceiling', hours, [least(365), most(1095)], 4000, 1095],
    ['is none where they contradict each other', hours, [least(10), most(5)], 7, null],
    ['is the stricter level', level, [upTo('some'), upTo('all')], 'none', 'all'],
    ['is the only choice', choice, [among('b')], 'a', 'b'],
    ['is none where a person has to choose', choice, [among('b', 'c')], 'a', null],
    ['is the choice that was made, where it is among them', choice, [among('b', 'c')], 'c', 'c'],
    [
      'is none where yes and no are asked for',
      flag,
      [
        { op: 'equals', value: true },
        { op: 'equals', value: false },
      ],
      true,
      null,
    ],
  ])('%s', (_, term, requirements, value, expected) => {
    expect(nearest(term, requirements, value)).toBe(expected);
    expect(nearest(term, requirements.toReversed(), value)).toBe(expected);
  });

  it('meets all requirements, in whatever order they come, and is then its own', () => {
    const requirement = fc.oneof(fc.nat(50).map(most), fc.nat(50).map(least));
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 5 }), fc.nat(60), (requirements, value) => {
        const to = nearest(hours, requirements, value);
        expect(nearest(hours, requirements.toReversed(), value)).toBe(to);
        const floors = requirements.filter(({ op }) => op === 'at_least').map((one) => Number(one.value));
        const ceilings = requirements.filter(({ op }) => op === 'at_most').map((one) => Number(one.value));
        const possible = Math.max(0, ...floors) <= Math.min(Number.POSITIVE_INFINITY, ...ceilings);
        expect(to !== null).toBe(possible);
        if (!possible) return;
        for (const one of requirements) expect(meets(hours, one, to ?? -1)).toBe(true);
        expect(nearest(hours, requirements, to ?? -1)).toBe(to);
      }),
    );
  });
});
