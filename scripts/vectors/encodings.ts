import {
  concatBytes,
  fromHex,
  toBase58,
  toBase64url,
  toHex,
  toMultibase,
} from '../../packages/core/src/index.ts';
import { smallOrderKey, withSpareBits } from './forged.ts';
import { signers } from './keys.ts';

/** A text and its bytes (hex), or the code with which it is refused. `length` is in bytes. */
export interface EncodingCase {
  readonly name: string;
  readonly encoding: 'base64url' | 'hex' | 'multibase' | 'did:key';
  readonly text: string;
  readonly length?: number;
  readonly expected: { readonly hex: string } | { readonly code: string };
}

type Row = readonly [name: string, text: string, expected: string, length?: number];

const key = signers.service.publicKey;
const ed25519Codec = Uint8Array.of(0xed, 0x01);
const didKey = (bytes: Uint8Array): string => `did:key:${toMultibase(bytes)}`;

const base64url = {
  good: [
    ['empty', '', ''],
    ['one byte', '_w', 'ff'],
    ['two bytes', '-_8', 'fbff'],
    ['three bytes', 'AAEC', '000102'],
    ['a public key', toBase64url(key), toHex(key), 32],
  ],
  bad: [
    ['padding', '_w==', 'invalid_base64url'],
    ['base64 alphabet', '+/8', 'invalid_base64url'],
    ['spare bits', '_x', 'invalid_base64url'],
    ['spare bits of a key', withSpareBits(toBase64url(key)), 'invalid_base64url', 32],
    ['one character', 'A', 'invalid_base64url'],
    ['five characters', 'AAAAA', 'invalid_base64url'],
    ['white space', 'AA EC', 'invalid_base64url'],
    ['line end', 'AAEC\n', 'invalid_base64url'],
    ['another length', 'AAEC', 'invalid_base64url', 32],
    ['beyond ASCII', 'AA\u00c4C', 'invalid_base64url'],
  ],
} satisfies Record<string, readonly Row[]>;

const hex = {
  good: [
    ['empty', '', ''],
    ['lower case', '00ff', '00ff'],
    ['of a length', '00'.repeat(32), '00'.repeat(32), 32],
  ],
  bad: [
    ['upper case', '00FF', 'invalid_hex'],
    ['odd length', '00f', 'invalid_hex'],
    ['prefix', '0x00', 'invalid_hex'],
    ['another length', '00ff', 'invalid_hex', 32],
  ],
} satisfies Record<string, readonly Row[]>;

const multibase = {
  good: [
    ['base58btc', 'z2NEpo7TZRRrLZSi2U', toHex(Buffer.from('Hello World!'))],
    ['leading zeros', 'z11233QC4', '0000287fb4cd'],
    ['empty', 'z', ''],
  ],
  bad: [
    ['another base', 'f68656c6c6f', 'invalid_multibase'],
    ['no prefix', '2NEpo7TZRRrLZSi2U', 'invalid_multibase'],
    ['character 0', 'z0', 'invalid_multibase'],
    ['character l', 'zl', 'invalid_multibase'],
    ['nothing', '', 'invalid_multibase'],
    ['too long', `z${'2'.repeat(129)}`, 'invalid_multibase'],
  ],
} satisfies Record<string, readonly Row[]>;

const didKeys = {
  good: [
    ['Ed25519', signers.service.keyId, toHex(key)],
    [
      'did:key specification',
      'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
      '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29',
    ],
  ],
  bad: [
    ['P-256', 'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169', 'invalid_did'],
    ['X25519', didKey(concatBytes(Uint8Array.of(0xec, 0x01), key)), 'invalid_did'],
    ['codec not a shortest varint', didKey(concatBytes(Uint8Array.of(0xed, 0x81, 0x00), key)), 'invalid_did'],
    ['another second byte of the codec', didKey(concatBytes(Uint8Array.of(0xed, 0x02), key)), 'invalid_did'],
    ['31 bytes', didKey(concatBytes(ed25519Codec, key.subarray(1))), 'invalid_did'],
    ['33 bytes', didKey(concatBytes(ed25519Codec, key, Uint8Array.of(0))), 'invalid_did'],
    ['small order', smallOrderKey.keyId, 'invalid_did'],
    ['out of range', didKey(concatBytes(ed25519Codec, fromHex(`ee${'ff'.repeat(30)}7f`))), 'invalid_did'],
    ['without multibase', `did:key:${toBase58(concatBytes(ed25519Codec, key))}`, 'invalid_did'],
    ['with a fragment', `${signers.service.keyId}#key`, 'invalid_did'],
    ['another method', 'did:svc:example', 'invalid_did'],
    ['upper case', signers.service.keyId.replace('did:', 'DID:'), 'invalid_did'],
  ],
} satisfies Record<string, readonly Row[]>;

export function encodingCases(): EncodingCase[] {
  return [
    ...casesIn('base64url', base64url),
    ...casesIn('hex', hex),
    ...casesIn('multibase', multibase),
    ...casesIn('did:key', didKeys),
  ];
}

function casesIn(
  encoding: EncodingCase['encoding'],
  rows: { good: readonly Row[]; bad: readonly Row[] },
): EncodingCase[] {
  const made = ([name, text, , length]: Row, expected: EncodingCase['expected']): EncodingCase => ({
    name: `${encoding}: ${name}`,
    encoding,
    text,
    ...(length === undefined ? {} : { length }),
    expected,
  });
  return [
    ...rows.good.map((row) => made(row, { hex: row[2] })),
    ...rows.bad.map((row) => made(row, { code: row[2] })),
  ];
}
