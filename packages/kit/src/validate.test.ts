import { type JsonValue, TallyError } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { validate } from './validate.ts';

const schema = z.strictObject({
  input: z.string().min(2),
  units: z.int().optional(),
  receipts: z.array(z.strictObject({ ts: z.int() })).optional(),
  party: z
    .union([z.string(), z.strictObject({ did: z.string(), regulated: z.boolean().optional() })])
    .optional(),
});

function refusal(value: JsonValue): Pick<TallyError, 'code' | 'field' | 'message'> {
  try {
    validate(schema, value);
  } catch (error) {
    if (error instanceof TallyError) return { code: error.code, field: error.field, message: error.message };
    throw error;
  }
  throw new Error('accepted');
}

it('gives the value back as the type', () => {
  const value = { input: 'ab', receipts: [{ ts: 1 }], party: { did: 'did:svc:a' } };
  expect(validate(schema, value)).toEqual(value);
});

describe('refusals', () => {
  it.each<[JsonValue, string, string | undefined, RegExp]>([
    [{}, 'missing_field', 'input', /^input is required\.$/],
    [{ input: 'ab', receipts: [{ ts: 1 }, {}] }, 'missing_field', 'receipts[1].ts', /required/],
    [{ input: 'ab', party: { regulated: true } }, 'missing_field', 'party.did', /required/],
    [
      { inputs: 'ab' },
      'unknown_field',
      'inputs',
      /^inputs is not known\. Did you mean input\? Known fields: input, units, receipts, party\.$/,
    ],
    [
      { input: 'ab', receipts: [{ ts: 1, tss: 2 }] },
      'unknown_field',
      'receipts[0].tss',
      /Did you mean ts\? Known fields: ts\.$/,
    ],
    [
      { input: 'ab', party: { did: 'x', regulate: true } },
      'unknown_field',
      'party.regulate',
      /Did you mean regulated\?/,
    ],
    [{ input: 'ab', zebra: 1 }, 'unknown_field', 'zebra', /^zebra is not known\. Known fields:/],
    [{ input: 1 }, 'invalid_field', 'input', /^input: expected string, received number\.$/],
    [{ input: 'a' }, 'invalid_field', 'input', /^input: too small/],
    [{ input: null }, 'invalid_field', 'input', /received null/],
    [{ input: 'ab', units: 1.5 }, 'invalid_field', 'units', /int/],
    [{ input: 'ab', party: 7 }, 'invalid_field', 'party', /./],
    [[], 'invalid_field', undefined, /^The body: expected object, received array/],
    ['text', 'invalid_field', undefined, /^The body: expected object/],
  ])('%j', (value, code, field, message) => {
    expect(refusal(value)).toEqual({ code, field, message: expect.stringMatching(message) });
  });

  const unions = z.strictObject({
    input: z.union([z.string(), z.array(z.string()).max(2), z.array(z.int()).max(2)]).optional(),
    months: z.union([z.literal(1), z.literal(12)]).optional(),
    content: z
      .union([
        z.string(),
        z.array(
          z.union([
            z.looseObject({ type: z.literal('text'), text: z.string() }),
            z.looseObject({ type: z.literal('file'), file: z.looseObject({}) }),
            z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
          ]),
        ),
        z.null(),
      ])
      .optional(),
  });

  it.each<[JsonValue, string, string, RegExp]>([
    [{ input: ['a', 'b', 'c'] }, 'invalid_field', 'input', /^input: too big/],
    [{ input: [1, 2, 3] }, 'invalid_field', 'input', /^input: too big/],
    [{ input: ['a', 2] }, 'invalid_field', 'input[1]', /expected string/],
    [{ months: 2 }, 'invalid_field', 'months', /^months: expected 1 or 12\.$/],
    [
      { content: [{ type: 'zz' }] },
      'invalid_field',
      'content[0].type',
      /^content\[0\]\.type: expected "text", "file" or "refusal"\.$/,
    ],
    [{ content: [{}] }, 'missing_field', 'content[0].type', /required/],
    [{ content: [{ type: 'refusal' }] }, 'missing_field', 'content[0].refusal', /required/],
  ])('of a union blame what is wrong: %j', (value, code, field, message) => {
    expect(() => validate(unions, value)).toThrow(
      expect.objectContaining({ code, field, message: expect.stringMatching(message) }),
    );
  });

  it('does not take an inherited name for a present one', () => {
    const inherited = z.strictObject({ toString: z.string() });
    expect(() => validate(inherited, {})).toThrow(expect.objectContaining({ code: 'missing_field' }));
  });
});
