import type { JsonValue } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Edit, splice } from './splice.ts';

const withoutSvc = (text: string): string => splice(text, [{ path: ['svc'], value: undefined }]);

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
    expect(withoutSvc(text)).toBe(rest);
  });

  it.each(['x', '"', String.raw`\\`])('with a string of eight million of %s', (character) => {
    const [a, b] = [character.repeat(4_000_000), 1];
    expect(withoutSvc(JSON.stringify({ a, svc: a, b }))).toBe(JSON.stringify({ a, b }));
  });

  it('is what the parsed object is without it', () => {
    const object = fc.dictionary(fc.constantFrom('svc', 'a', 'b', 'a"\\,}'), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.constantFrom(0, 1), (value, indent) => {
        const { svc: _svc, ...rest } = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(JSON.parse(withoutSvc(JSON.stringify(value, null, indent)))).toEqual(rest);
      }),
    );
  });
});

describe('a JSON text with changes', () => {
  const rows: [what: string, text: string, edits: Edit[], changed: string][] = [
    ['none', ' {"a": 1.0} ', [], ' {"a": 1.0} '],
    ['a value', '{"a" : 1.0, "b":2e0}', [{ path: ['a'], value: 'x' }], '{"a" : "x", "b":2e0}'],
    ['an escaped name', '{"\\u0061":1}', [{ path: ['a'], value: 2 }], '{"\\u0061":2}'],
    [
      'values deep within',
      '{"m":[ {"c":[{"t":"a"}, {"t":"b"}]} , {"c":"d"}],"z":1.50}',
      [
        { path: ['m', 0, 'c', 1, 't'], value: 'B' },
        { path: ['m', 1, 'c'], value: 'D' },
      ],
      '{"m":[ {"c":[{"t":"a"}, {"t":"B"}]} , {"c":"D"}],"z":1.50}',
    ],
    ['an added member', '{"a":1}', [{ path: ['b'], value: [1], add: true }], '{"a":1,"b":[1]}'],
    ['a member added to nothing', '{ }', [{ path: ['b'], value: 1, add: true }], '{"b":1}'],
    ['a member that is there', '{"b":0,"a":1}', [{ path: ['b'], value: 1, add: true }], '{"b":1,"a":1}'],
    [
      'an added member in another',
      '{"a":{"x":1}}',
      [{ path: ['a', 'y'], value: 2, add: true }],
      '{"a":{"x":1,"y":2}}',
    ],
    [
      'all removed, one added',
      '{"svc":1}',
      [
        { path: ['svc'], value: undefined },
        { path: ['a'], value: 1, add: true },
      ],
      '{"a":1}',
    ],
    [
      'a path that leads nowhere',
      '{"a":[],"b":"x"}',
      [
        { path: ['a', 0], value: 1 },
        { path: ['b', 'c'], value: 1 },
        { path: ['d'], value: 1 },
      ],
      '{"a":[],"b":"x"}',
    ],
    ['an empty list', '{"a":[ ],"b":1}', [{ path: ['a', 0, 'x'], value: 1 }], '{"a":[ ],"b":1}'],
  ];
  it.each(rows)('%s', (_, text, edits, changed) => {
    expect(splice(text, edits)).toBe(changed);
  });

  it('is what the parsed value is with them', () => {
    const name = fc.constantFrom('a', 'b', 'c"\\', '0');
    const value = fc.dictionary(
      name,
      fc.oneof(fc.jsonValue(), fc.array(fc.dictionary(name, fc.jsonValue()))),
    );
    fc.assert(
      fc.property(
        value,
        name,
        name,
        fc.jsonValue(),
        fc.constantFrom(0, 2),
        (object, outer, inner, to, indent) => {
          const expected = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
          const parent = expected[outer];
          if (Array.isArray(parent)) {
            for (const index of parent.keys()) if (String(index) === inner) parent[index] = to;
          } else if (typeof parent === 'object' && parent !== null)
            (parent as Record<string, unknown>)[inner] = to;
          const edits: Edit[] = [{ path: [outer, inner], value: to as JsonValue, add: true }];
          expect(JSON.parse(splice(JSON.stringify(object, null, indent), edits))).toEqual(
            JSON.parse(JSON.stringify(expected)),
          );
        },
      ),
    );
  });
});
