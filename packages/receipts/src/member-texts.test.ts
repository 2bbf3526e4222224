import { canonicalize, type JsonObject, parseJson } from '@tallystick/core';
import { assert, dictionary, jsonValue, property, stringMatching } from 'fast-check';
import { expect, it } from 'vitest';
import { memberTexts } from './member-texts.ts';

const names = stringMatching(/^[a-z_]{1,12}$/);
const values = jsonValue({ maxDepth: 4 }).map((value) => structuredClone(value) as JsonObject[string]);

it('gives every member as the text that it has', () => {
  assert(
    property(dictionary(names, values), (object) => {
      const texts = memberTexts(canonicalize(object));
      expect(Object.fromEntries(texts)).toEqual(
        Object.fromEntries(Object.entries(object).map(([name, value]) => [name, canonicalize(value)])),
      );
      expect([...texts.keys()]).toEqual(Object.keys(object).sort());
    }),
  );
});

it.each(['{"a":"\\\\","b":1}', '{"a":"\\",","b":1}', '{"a":[{"c":"}"}],"b":1}', '{"b":1}', '{}'])(
  'keeps its place in %s',
  (text) => {
    const whole = parseJson(new TextEncoder().encode(text)) as JsonObject;
    expect([...memberTexts(text).keys()]).toEqual(Object.keys(whole));
    expect(memberTexts(text).get('b')).toBe('b' in whole ? '1' : undefined);
  },
);

it.each(['{"a":1', '{"a":"1}', '{"a":[1}'])('refuses the torn %s', (text) => {
  expect(() => memberTexts(text)).toThrow(RangeError);
});
