import { utf8 } from '../../packages/core/src/index.ts';
import { base64 } from './raw.ts';

/** Bytes that are JSON within I-JSON, with their canonical text, or bytes with the code with which they are refused. */
export interface GateCase {
  readonly name: string;
  readonly comment: string;
  readonly raw_base64: string;
  readonly expected: { readonly canonical: string } | { readonly code: string };
}

type Row = readonly [name: string, input: string | readonly number[], expected: string];

/** `expected` is canonical text. */
const accepted: readonly Row[] = [
  ['empty object', '{}', '{}'],
  ['scalar document', ' 1 ', '1'],
  [
    'sorted by UTF-16',
    '{"\\ufb33":1,"\\ud83d\\ude00":2,"\u20ac":3}',
    '{"\u20ac":3,"\u{1F600}":2,"\ufb33":1}',
  ],
  ['nested sorting', '{"b":{"d":1,"c":2},"a":[]}', '{"a":[],"b":{"c":2,"d":1}}'],
  ['short escapes', '"\\b\\t\\n\\f\\r\\"\\\\\\/"', '"\\b\\t\\n\\f\\r\\"\\\\/"'],
  ['control characters', '"\\u0000\\u001F"', '"\\u0000\\u001f"'],
  ['delete is not escaped', '"\\u007f"', '"\u007f"'],
  ['line separators are not escaped', '"\\u2028\\u2029"', '"\u2028\u2029"'],
  ['surrogate pair', '"\\uD83E\\uDDFE"', '"\u{1F9FE}"'],
  ['no normalisation', '["\\u00e9","e\\u0301"]', '["\u00e9","e\u0301"]'],
  ['byte order mark inside a text', '"\\ufeff"', '"\ufeff"'],
  ['names that differ in case', '{"a":1,"A":2}', '{"A":2,"a":1}'],
  ['__proto__ is a name', '{"__proto__":1,"a":2}', '{"__proto__":1,"a":2}'],
  ['empty name', '{"":1}', '{"":1}'],
  ['same name in two objects', '{"a":{"x":1},"b":{"x":1}}', '{"a":{"x":1},"b":{"x":1}}'],
  ['minus zero', '[-0,-0.0,0]', '[0,0,0]'],
  ['fractions', '[0.10,1.0,1e-7,0.000001]', '[0.1,1,1e-7,0.000001]'],
  ['largest integer', '[9007199254740991,-9007199254740991]', '[9007199254740991,-9007199254740991]'],
  ['integer written as a fraction', '[9007199254740991.0]', '[9007199254740991]'],
  ['exponents', '[1E2,1e+2,1e21,1.5e300]', '[100,100,1e+21,1.5e+300]'],
  ['smallest double', '5e-324', '5e-324'],
  ['underflow is zero', '1e-400', '0'],
  ['long fraction rounds', '0.1000000000000000055511151231257827', '0.1'],
  ['depth 64', `${'['.repeat(64)}${']'.repeat(64)}`, `${'['.repeat(64)}${']'.repeat(64)}`],
];

/** `expected` is a code. */
const refused: readonly Row[] = [
  ['no bytes', [], 'json_empty'],
  ['white space only', ' \r\n\t', 'json_empty'],
  ['byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d], 'json_bom'],
  ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], 'json_not_utf8'],
  ['overlong UTF-8', [0x22, 0xc0, 0xaf, 0x22], 'json_not_utf8'],
  ['surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22], 'json_not_utf8'],
  ['cut off UTF-8', [0x22, 0xe2, 0x82, 0x22], 'json_not_utf8'],
  ['past U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 'json_not_utf8'],
  ['trailing comma', '[1,]', 'json_syntax'],
  ['two documents', '{} {}', 'json_syntax'],
  ['comment', '{/**/}', 'json_syntax'],
  ['single quotes', "{'a':1}", 'json_syntax'],
  ['unquoted name', '{a:1}', 'json_syntax'],
  ['leading zero', '01', 'json_syntax'],
  ['plus sign', '+1', 'json_syntax'],
  ['bare point', '1.', 'json_syntax'],
  ['no digit before the point', '.5', 'json_syntax'],
  ['hexadecimal', '0x10', 'json_syntax'],
  ['NaN', 'NaN', 'json_syntax'],
  ['Infinity', '-Infinity', 'json_syntax'],
  ['literal in upper case', 'TRUE', 'json_syntax'],
  ['raw tab in a text', '"\t"', 'json_syntax'],
  ['raw NUL after the document', [0x31, 0x00], 'json_syntax'],
  ['no-break space outside', '\u00a01', 'json_syntax'],
  ['unknown escape', '"\\x41"', 'json_syntax'],
  ['short \\u escape', '"\\u12"', 'json_syntax'],
  ['open text', '"a', 'json_syntax'],
  ['open object', '{"a":1', 'json_syntax'],
  ['member twice', '{"a":1,"a":1}', 'json_duplicate_member'],
  ['member twice, deep', '[{"x":{"a":1,"b":2,"a":3}}]', 'json_duplicate_member'],
  ['member twice, escaped', '{"a":1,"\\u0061":2}', 'json_duplicate_member'],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}', 'json_duplicate_member'],
  ['high surrogate alone', '"\\ud800"', 'json_lone_surrogate'],
  ['low surrogate alone', '"\\udc00a"', 'json_lone_surrogate'],
  ['surrogates exchanged', '"\\ude00\\ud83d"', 'json_lone_surrogate'],
  ['lone surrogate in a name', '{"\\ud800":1}', 'json_lone_surrogate'],
  ['noncharacter U+FFFE', '"\\ufffe"', 'json_noncharacter'],
  ['noncharacter U+FDD0', '"\\ufdd0"', 'json_noncharacter'],
  ['noncharacter U+1FFFF', '"\\ud83f\\udfff"', 'json_noncharacter'],
  ['noncharacter in UTF-8', [0x22, 0xef, 0xbf, 0xbf, 0x22], 'json_noncharacter'],
  ['integer 2^53', '9007199254740992', 'json_integer_range'],
  ['integer -2^53', '[-9007199254740992]', 'json_integer_range'],
  ['2^53 as a fraction', '9007199254740992.0', 'json_integer_range'],
  ['2^53 with an exponent', '9.007199254740992e15', 'json_integer_range'],
  ['long integer', '1000000000000000000000000', 'json_integer_range'],
  ['overflow', '1e400', 'json_number_range'],
  ['depth 65', `${'['.repeat(65)}${']'.repeat(65)}`, 'json_depth'],
  ['depth 65 of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'json_depth'],
];

export function gateCases(): GateCase[] {
  return [
    ...accepted.map((row) => gateCase(row, { canonical: row[2] })),
    ...refused.map((row) => gateCase(row, { code: row[2] })),
  ];
}

function gateCase([name, input]: Row, expected: GateCase['expected']): GateCase {
  const bytes = typeof input === 'string' ? utf8(input) : Uint8Array.from(input);
  return { name, comment: printable(bytes), raw_base64: base64(bytes), expected };
}

/** The bytes in readable form: printable ASCII, the rest in hex, cut after 60. */
function printable(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 60), (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `<${byte.toString(16).padStart(2, '0')}>`,
  );
  return shown.join('') + (bytes.length > 60 ? '\u2026' : '');
}
