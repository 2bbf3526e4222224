import * as fc from 'fast-check';
import type { JsonValue } from '../src/index.ts';

/** Any value within I-JSON (RFC 7493): finite doubles whose text is no integer past 2^53-1, no noncharacters. */
export const iJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => {
  const number = fc
    .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .filter((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER || Math.abs(value) >= 1e21);
  const text = fc.string({ unit: 'grapheme' });
  return {
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(null, true, false),
      number,
      text,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(text, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    ),
  };
}).value;
