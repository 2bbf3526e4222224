import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutMember } from './without-member.ts';

describe('a JSON object without one of its members', () => {
  it.each([
    ['alone', '{"svc":1}', '{}'],
    ['first', '{"svc":{"a":[1,{"b":2}]},"x":1.0}', '{"x":1.0}'],
    ['last', '{"x":1.0,"svc":"a,}\\""}', '{"x":1.0}'],
    ['between, with spaces', '{ "x" : 1 , "svc" : null , "y" : 2 }', '{ "x" : 1 , "y" : 2 }'],
    ['twice', '{"svc":1,"x":12345678901234567890,"svc":2}', '{"x":12345678901234567890}'],
    ['escaped', '{"\\u0073vc":1,"x":1}', '{"x":1}'],
    ['within another only', '{"x":{"svc":1},"y":["svc"]}', '{"x":{"svc":1},"y":["svc"]}'],
    ['absent', '{}', '{}'],
    ['over several lines', '{"x":1,\n"svc":1}', '{"x":1}'],
  ])('%s', (_, text, rest) => {
    expect(withoutMember(text, 'svc')).toBe(rest);
  });

  it.each(['x', '"', String.raw`\\`])('with a string of eight million of %s', (character) => {
    const [a, b] = [character.repeat(4_000_000), 1];
    expect(withoutMember(JSON.stringify({ a, svc: a, b }), 'svc')).toBe(JSON.stringify({ a, b }));
  });

  it('is what the parsed object is without it', () => {
    const object = fc.dictionary(fc.constantFrom('svc', 'a', 'b', 'a"\\,}'), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.constantFrom(0, 1), (value, indent) => {
        const { svc: _svc, ...rest } = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(JSON.parse(withoutMember(JSON.stringify(value, null, indent), 'svc'))).toEqual(rest);
      }),
    );
  });
});
