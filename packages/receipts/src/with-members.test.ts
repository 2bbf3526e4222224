import { canonicalize, type JsonObject } from '@tallystick/core';
import { assert, dictionary, jsonValue, property, stringMatching } from 'fast-check';
import { expect, it } from 'vitest';
import { withMembers } from './with-members.ts';

const names = stringMatching(/^[a-z_]{1,3}$/);
const values = jsonValue({ maxDepth: 4 }).map((value) => structuredClone(value) as JsonObject[string]);

it('gives the canonical text of the object with the members', () => {
  assert(
    property(dictionary(names, values), dictionary(names, values), (object, members) => {
      expect(withMembers(canonicalize(object), members)).toBe(canonicalize({ ...object, ...members }));
    }),
  );
});

it.each([
  ['{"a":"\\\\","b":1}', '{"a":"\\\\","b":2}'],
  ['{"a":"\\",","b":1}', '{"a":"\\",","b":2}'],
  ['{"a":[{"c":"}"}],"b":1}', '{"a":[{"c":"}"}],"b":2}'],
  ['{"b":[1],"c":3}', '{"b":2,"c":3}'],
  ['{"a":{"b":1}}', '{"a":{"b":1},"b":2}'],
  ['{"c":1}', '{"b":2,"c":1}'],
  ['{"ab":1,"ba":1}', '{"ab":1,"b":2,"ba":1}'],
  ['{}', '{"b":2}'],
])('sets b in %s', (text, expected) => {
  expect(withMembers(text, { b: 2 })).toBe(expected);
});

it.each(['{"a":1', '{"a":"1}', '{"a":[1}'])('refuses the torn %s', (text) => {
  expect(() => withMembers(text, { b: 2 })).toThrow(RangeError);
});
