import { type JsonObject, sha256, toBase64url, utf8 } from '../../packages/core/src/index.ts';
import {
  type Change,
  casesOf,
  changes,
  ISSUED_SECONDS,
  NO_KEY,
  NOT_REACHED,
  type ReceiptCase,
} from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { emitted, facts } from './profile-base.ts';
import { forgedProfiles } from './profile-forged.ts';
import { signByReference } from './sign.ts';

const { accepts, refuses } = casesOf('profile');

export async function nanoCases(): Promise<ReceiptCase[]> {
  const good = await emitted('nano');
  const another = await emitted('nano', { subject: { ...facts.subject, ok: false } });
  return [
    ...(await validCases(good, another)),
    ...changes('profile', good, changedMembers, withMember),
    ...(await forgedProfiles(good, another, { id: 'k' })),
    refuses(
      'signed by the log key',
      'A key signs for one purpose only.',
      await emitted('nano', {}, {}, signers.log),
      ['issuer'],
    ),
    ...malformedCases(good),
    ...(await sizeCases(good)),
  ];
}

async function validCases(good: JsonObject, another: JsonObject): Promise<ReceiptCase[]> {
  return [
    accepts('minimal', 'Nano names no issuer: the verifier finds it by the key.', good, {
      nulls: ['anchor'],
    }),
    accepts('not ok', 'ok is a fact about the subject, not about the receipt.', another),
    accepts('issuer not known', 'Integrity without trust.', good, {
      trust: 'empty',
      nulls: ['issuer', 'key_window', 'anchor'],
    }),
    accepts(
      'signed by a stranger',
      'Whole, of a key that belongs to nobody known.',
      await emitted('nano', {}, {}, signers.stranger),
      {
        trusted: false,
        nulls: ['issuer', 'key_window', 'anchor'],
      },
    ),
    accepts(
      'registered issuer',
      'Registered is not verified: valid, not trusted.',
      await emitted('nano', {}, {}, signers.acme),
      {
        trusted: false,
        nulls: ['anchor'],
      },
    ),
    accepts(
      'unknown signed member',
      'The format only adds members.',
      await signByReference({ ...good, n: 1 }, signers.service),
    ),
  ];
}

const changedMembers: readonly Change[] = [
  ['a', signers.stranger.keyId],
  ['h', toBase64url(sha256(utf8('other')))],
  ['t', 'text/plain'],
  ['ok', false],
  ['ts', ISSUED_SECONDS + 1],
  ['k', signers.stranger.keyId],
  ['receipt.id', `r_nano_${ISSUED_SECONDS}_0123456789ac`],
  ['receipt.verify_uri', 'https://evil.example/verify'],
  ['receipt.unknown_member', 1],
  ['unknown_member', 1],
  ['k', 'did:svc:example:unknown', NO_KEY],
];

function malformedCases(good: JsonObject): ReceiptCase[] {
  const list: Change[] = [
    ['h', withSpareBits(textAt(good, 'h'))],
    ['h', `sha256:${'0'.repeat(64)}`],
    ['v', 'r1.0.1'],
    ['a', 'agent'],
    ['t', ''],
    ['ok', 'true'],
    ['ts', 1_768_474_800.5],
    ['ts', 999_999_999],
    ['ts', '1768474800'],
    ['k', 'did:example:1'],
    ['receipt', null],
    ['receipt.id', `r_standard_${ISSUED_SECONDS}_0123456789ab`],
    ['receipt.sig_b64u', withSpareBits(textAt(good, 'receipt.sig_b64u'))],
    ['receipt.verify_uri', ''],
  ];
  return [
    ...list.map(([path, value]) =>
      refuses(
        `${path} is ${JSON.stringify(value)}`,
        'The form is wrong.',
        withMember(good, path, value),
        ['format'],
        NOT_REACHED,
      ),
    ),
    ...['a', 'h', 'ts', 'k', 'receipt.verify_uri'].map((path) =>
      refuses(
        `${path} missing`,
        'Every member of nano is required.',
        withoutMember(good, path),
        ['format'],
        NOT_REACHED,
      ),
    ),
  ];
}

/** Cases at the limit of 600 bytes of JCS, counted in UTF-8. */
async function sizeCases(good: JsonObject): Promise<ReceiptCase[]> {
  const sized = async (bytes: number, unit = 'p'): Promise<JsonObject> => {
    const pad = bytes - JSON.stringify(good).length - ',"x":""'.length;
    const width = utf8(unit).length;
    const x = unit.repeat(Math.floor(pad / width)) + 'p'.repeat(pad % width);
    return signByReference({ ...good, x }, signers.service);
  };
  return [
    accepts('600 bytes', 'The largest nano receipt.', await sized(600)),
    accepts('600 bytes of UTF-8', 'Bytes count, not characters.', await sized(600, '\u20ac')),
    refuses('601 bytes', 'One byte over the limit.', await sized(601), ['size']),
    refuses('601 bytes of UTF-8', 'Few characters, too many bytes.', await sized(601, '\u{1F9FE}'), ['size']),
  ];
}
