import {
  concatBytes,
  cosignCheckpoint,
  merkleRoot,
  noteKeyHash,
  type PolicyReason,
  type Signer,
  signCheckpoint,
  utf8,
  verifierKey,
  type Witnessed,
  withSignature,
  witnessKey,
} from '../../packages/core/src/index.ts';
import { ORIGIN } from './anchor-base.ts';
import { type KeyName, signers } from './keys.ts';
import { mlDsaWitness } from './ml-dsa-cosignatures.ts';

/** A policy, and the checkpoint that is judged by it, alone. */
export interface WitnessPolicyCase {
  readonly name: string;
  readonly comment: string;
  /** Base64 (RFC 4648 section 4) of the bytes of the policy. */
  readonly policy_base64: string;
  /** The same as text, for readers; null where the bytes are not UTF-8. */
  readonly policy: string | null;
  /** Signed note, or null for none. */
  readonly checkpoint: string | null;
  /** `unknown_keys`: number of keys of unknown types. */
  readonly expected:
    | { readonly witnessed: Witnessed; readonly unknown_keys: number }
    | {
        readonly code: 'witness_policy_invalid';
        readonly reason: PolicyReason;
        readonly line: number | null;
      };
}

const TIME = 1_768_476_600;
const head = { origin: ORIGIN, size: 7, root: merkleRoot([]).toReversed() };

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** A key of any type, as a verifier key. */
function keyOf(name: string, type: number, publicKey: Uint8Array): string {
  const id = noteKeyHash(name, type, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${base64(concatBytes(Uint8Array.of(type), publicKey))}`;
}

const signerOf: Readonly<Record<string, KeyName>> = { a: 'stranger', b: 'acme', c: 'operator', d: 'agent' };
const nameOf = (letter: string): string => `witness.example/${letter}`;
const signer = (letter: string): Signer => signers[signerOf[letter] ?? 'stranger'];
const vkey = (letter: string): string => keyOf(nameOf(letter), 4, signer(letter).publicKey);
const witness = (letter: string): string => `witness ${letter} ${vkey(letter)}`;
/** A witness that cosigns by ML-DSA-44. */
const q = mlDsaWitness(nameOf('q'), 'witness of a policy');
const witnessQ = `witness q ${witnessKey(q.name, q.signer.publicKey)}`;
const log = `log ${verifierKey(ORIGIN, signers.log.publicKey)}`;

/** The checkpoint with the cosignatures of these witnesses. */
async function cosignedBy(letters: string): Promise<string> {
  let note = await signCheckpoint(head, signers.log);
  for (const letter of letters) {
    note = withSignature(
      note,
      await cosignCheckpoint(note, { name: nameOf(letter), signer: signer(letter) }, TIME),
    );
  }
  return note;
}

const bytesOf = (policy: string | Uint8Array): Uint8Array =>
  typeof policy === 'string' ? utf8(policy) : policy;

function judged(
  name: string,
  comment: string,
  policy: string | Uint8Array,
  checkpoint: string | null,
  witnessed: Witnessed,
  unknown_keys = 0,
): WitnessPolicyCase {
  const policy_base64 = base64(bytesOf(policy));
  const text = typeof policy === 'string' ? policy : null;
  return { name, comment, policy_base64, policy: text, checkpoint, expected: { witnessed, unknown_keys } };
}

function refused(
  name: string,
  comment: string,
  policy: string | Uint8Array,
  reason: PolicyReason,
  line: number | null,
): WitnessPolicyCase {
  const expected = { code: 'witness_policy_invalid', reason, line } as const;
  const text = typeof policy === 'string' && policy.length < 10_000 ? policy : null;
  return { name, comment, policy_base64: base64(bytesOf(policy)), policy: text, checkpoint: null, expected };
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;
const verdict = (satisfied: boolean, required: number, by: string, of: number): Witnessed => ({
  required,
  satisfied,
  by: by.split(''),
  of,
});

export async function witnessPolicyCases(): Promise<WitnessPolicyCase[]> {
  return [
    ...(await quorumCases()),
    ...(await mlDsaCases()),
    ...(await logCases()),
    ...(await formCases()),
    ...invalidCases(),
  ];
}

async function quorumCases(): Promise<WitnessPolicyCase[]> {
  const three = [log, witness('a'), witness('b'), witness('c')];
  const twoOfThree = lines(...three, 'group g 2 a b c', 'quorum g');
  const nested = lines(
    ...three,
    witness('d'),
    'group x 2 a b',
    'group y any c d',
    'group both all x y',
    'quorum both',
  );
  const note = await cosignedBy('');
  return [
    judged(
      'one witness',
      'A quorum may be a single witness.',
      lines(log, witness('a'), 'quorum a'),
      await cosignedBy('a'),
      verdict(true, 1, 'a', 1),
    ),
    judged(
      '2 of 3',
      'Two of three have cosigned.',
      twoOfThree,
      await cosignedBy('ac'),
      verdict(true, 2, 'ac', 3),
    ),
    judged(
      '2 of 3, all',
      'More than enough.',
      twoOfThree,
      await cosignedBy('cba'),
      verdict(true, 2, 'abc', 3),
    ),
    judged(
      '2 of 3, one',
      'One is not enough, and is named.',
      twoOfThree,
      await cosignedBy('b'),
      verdict(false, 2, 'b', 3),
    ),
    judged('2 of 3, none', 'Nobody has cosigned.', twoOfThree, note, verdict(false, 2, '', 3)),
    judged(
      'any',
      'One of the group is enough.',
      lines(...three, 'group g any a b c', 'quorum g'),
      await cosignedBy('c'),
      verdict(true, 1, 'c', 3),
    ),
    judged(
      'all',
      'All of the group must have cosigned.',
      lines(...three, 'group g all a b c', 'quorum g'),
      await cosignedBy('ab'),
      verdict(false, 3, 'ab', 3),
    ),
    judged(
      'groups in a group',
      'Two of one group and one of another.',
      nested,
      await cosignedBy('abd'),
      verdict(true, 3, 'abd', 4),
    ),
    judged(
      'groups in a group, one missing',
      'Three have cosigned, but not the right ones.',
      nested,
      await cosignedBy('acd'),
      verdict(false, 3, 'acd', 4),
    ),
    judged(
      'a witness outside of the quorum',
      'It is not counted, and not named.',
      lines(...three, 'group g all a b', 'quorum g'),
      await cosignedBy('abc'),
      verdict(true, 2, 'ab', 2),
    ),
    judged(
      'a witness that the policy does not list',
      'Its line is passed over.',
      lines(log, witness('a'), 'quorum a'),
      await cosignedBy('ad'),
      verdict(true, 1, 'a', 1),
    ),
    judged(
      'quorum none',
      'The signature of the log is enough.',
      lines(log, 'quorum none'),
      note,
      verdict(true, 0, '', 0),
    ),
    judged(
      'quorum none, no checkpoint',
      'There is nothing that the log has signed.',
      lines(log, 'quorum none'),
      null,
      verdict(false, 0, '', 0),
    ),
    judged(
      'no checkpoint',
      'There is nothing that a witness could have cosigned.',
      twoOfThree,
      null,
      verdict(false, 2, '', 3),
    ),
    judged(
      'a bad cosignature beside a good one',
      'A signature in the name of a key that is known must be good, else the note does not count.',
      lines(log, witness('a'), witness('b'), 'group g any a b', 'quorum g'),
      await withForeignLine(),
      verdict(false, 1, '', 2),
    ),
    judged(
      'a cosignature by the key of another witness',
      'The line has the name and id of the one, and the signature of the other.',
      lines(log, witness('a'), 'quorum a'),
      await withForeignLine('a'),
      verdict(false, 1, '', 1),
    ),
  ];
}

/** A checkpoint cosigned by `a`, with a cosignature of another checkpoint in the name of `b`, or of `a` instead. */
async function withForeignLine(letter = 'b'): Promise<string> {
  const other = await signCheckpoint({ ...head, size: 8 }, signers.log);
  const line = await cosignCheckpoint(other, { name: nameOf(letter), signer: signer(letter) }, TIME);
  return withSignature(await cosignedBy('a'), line);
}

async function mlDsaCases(): Promise<WitnessPolicyCase[]> {
  const note = await cosignedBy('a');
  const line = await cosignCheckpoint(note, q, TIME);
  const cosigned = withSignature(note, line);
  const elsewhere = await cosignCheckpoint(await signCheckpoint({ ...head, size: 8 }, signers.log), q, TIME);
  const both = lines(log, witness('a'), witnessQ, 'group g all a q', 'quorum g');
  return [
    judged(
      'a witness by ML-DSA-44',
      'A key of type 0x06 counts as one of type 0x04 does.',
      lines(log, witnessQ, 'quorum q'),
      cosigned,
      verdict(true, 1, 'q', 1),
    ),
    judged(
      'Ed25519 and ML-DSA-44',
      'Both have cosigned, as the policy requires.',
      both,
      cosigned,
      verdict(true, 2, 'aq', 2),
    ),
    judged(
      'ML-DSA-44 stripped',
      'Whoever breaks Ed25519 still has no cosignature by the other key.',
      both,
      note,
      verdict(false, 2, 'a', 2),
    ),
    judged(
      'a bad cosignature by ML-DSA-44 beside a good one',
      'It is of another checkpoint; a signature in the name of a key that is known must be good.',
      lines(log, witness('a'), witnessQ, 'group g any a q', 'quorum g'),
      withSignature(note, elsewhere),
      verdict(false, 1, '', 2),
    ),
  ];
}

async function logCases(): Promise<WitnessPolicyCase[]> {
  const other = `log ${verifierKey('other.example/log', signers.service.publicKey)}`;
  const impostor = `log ${verifierKey(ORIGIN, signers.service.publicKey)}`;
  const renamed = `log ${verifierKey('other.example/log', signers.log.publicKey)}`;
  const rest = [witness('a'), 'quorum a'];
  const note = await cosignedBy('a');
  return [
    judged(
      'one of two logs',
      'Every listed log is accepted.',
      lines(other, log, ...rest),
      note,
      verdict(true, 1, 'a', 1),
    ),
    judged(
      'another log',
      'The log of the checkpoint is not listed.',
      lines(other, ...rest),
      note,
      verdict(false, 1, '', 1),
    ),
    judged(
      'the log’s name with another key',
      'The origin alone says nothing.',
      lines(impostor, ...rest),
      note,
      verdict(false, 1, '', 1),
    ),
    judged(
      'the log’s key under another name',
      'The name of a log’s key is its origin.',
      lines(renamed, ...rest),
      note,
      verdict(false, 1, '', 1),
    ),
    judged(
      'no log',
      'The verifier must know the log from elsewhere; here it knows none.',
      lines(...rest),
      note,
      verdict(false, 1, '', 1),
    ),
  ];
}

async function formCases(): Promise<WitnessPolicyCase[]> {
  const note = await cosignedBy('a');
  const met = verdict(true, 1, 'a', 1);
  const unassigned = keyOf('witness.example/u', 0x7f, new Uint8Array(32).fill(7));
  const latin = concatBytes(
    utf8(`${log}\nwitness `),
    Uint8Array.of(0xe9),
    utf8(` ${vkey('a')}\nquorum `),
    Uint8Array.of(0xe9, 0x0a),
  );
  return [
    judged(
      'spaces, tabs, empty lines and comments',
      'All are allowed.',
      `# policy\n\n \t\n  ${log}\t https://log.example/\n\t# more\nwitness \t a ${vkey('a')} https://a.example/prefix \nquorum\ta`,
      note,
      met,
    ),
    judged(
      'a number sign inside a line',
      'Only a line that starts with it is a comment.',
      lines(log, `witness #1 ${vkey('a')}`, 'quorum #1'),
      note,
      { required: 1, satisfied: true, by: ['#1'], of: 1 },
    ),
    judged(
      'names beyond ASCII',
      'Names are opaque: K is not the Kelvin sign.',
      lines(log, `witness K ${vkey('a')}`, `witness \u212a ${vkey('b')}`, 'quorum K'),
      note,
      { required: 1, satisfied: true, by: ['K'], of: 1 },
    ),
    judged(
      'a no-break space in a name',
      'Only spaces and tabs separate.',
      lines(log, `witness a\u00a0b ${vkey('a')}`, 'quorum a\u00a0b'),
      note,
      { required: 1, satisfied: true, by: ['a\u00a0b'], of: 1 },
    ),
    judged('a name that is not UTF-8', 'Octets from 0x80 on are opaque.', latin, note, {
      required: 1,
      satisfied: true,
      by: ['\u00e9'],
      of: 1,
    }),
    judged(
      'a witness key of a type that nothing defines',
      'It is passed over with a remark, and never counts.',
      lines(log, witness('a'), `witness u ${unassigned}`, 'group g any a u', 'quorum g'),
      note,
      verdict(true, 1, 'a', 2),
      1,
    ),
    judged(
      'a quorum that only an unknown key can meet',
      'It can’t be met here.',
      lines(log, `witness u ${unassigned}`, 'quorum u'),
      note,
      verdict(false, 1, '', 1),
      1,
    ),
  ];
}

function invalidCases(): WitnessPolicyCase[] {
  const a = witness('a');
  const small = new Uint8Array(32);
  small[0] = 1;
  return [
    refused('no text', 'There is no quorum.', '', 'quorum_missing', null),
    refused('no quorum', 'A policy has one quorum line.', lines(log, a), 'quorum_missing', null),
    refused('two quorums', 'Exactly one.', lines(log, a, 'quorum a', 'quorum none'), 'quorum_twice', 4),
    refused('an unknown quorum', 'The name must be defined.', lines(log, a, 'quorum b'), 'unknown_name', 3),
    refused(
      'a quorum before its witness',
      'The name must be defined on a line before.',
      lines('quorum a', a),
      'unknown_name',
      1,
    ),
    refused(
      'an unknown keyword',
      'The keywords are log, witness, group and quorum.',
      lines(log, 'threshold 2'),
      'unknown_keyword',
      2,
    ),
    refused('a keyword in capitals', 'Keywords are in lower case.', lines('Log x'), 'unknown_keyword', 1),
    refused(
      'a byte order mark',
      'It is part of the first keyword.',
      `\ufeff${lines('quorum none')}`,
      'unknown_keyword',
      1,
    ),
    refused(
      'a keyword that objects inherit',
      'It is no keyword.',
      lines('constructor a'),
      'unknown_keyword',
      1,
    ),
    refused(
      'CRLF',
      'A carriage return is a control character.',
      `${log}\r\nquorum none\r\n`,
      'control_character',
      1,
    ),
    refused(
      'a control character',
      'Only tab and newline are allowed.',
      lines('# one', 'quorum \u0001none'),
      'control_character',
      2,
    ),
    refused(
      'a control character in a comment',
      'Comments are text too.',
      lines('# one\u0001', 'quorum none'),
      'control_character',
      1,
    ),
    refused('DEL', '0x7F is a control character too.', lines('quorum none\u007f'), 'control_character', 1),
    refused('a log without a key', 'The key is missing.', lines('log', 'quorum none'), 'field_count', 1),
    refused(
      'a log with too much',
      'A key and a URL.',
      lines(`${log} https://log.example more`, 'quorum none'),
      'field_count',
      1,
    ),
    refused(
      'a comment after a line',
      'A comment has a line of its own.',
      lines(`${a} https://a.example # mine`, 'quorum a'),
      'field_count',
      1,
    ),
    refused('a witness without a key', 'A name and a key.', lines('witness a', 'quorum a'), 'field_count', 1),
    refused(
      'a group without members',
      'At least one.',
      lines(a, 'group g any', 'quorum g'),
      'field_count',
      2,
    ),
    refused('a quorum of two names', 'One name.', lines(a, witness('b'), 'quorum a b'), 'field_count', 3),
    refused(
      'a key that is none',
      'The form is <name>+<8 hex>+<base64>.',
      lines('log example.com', 'quorum none'),
      'key_malformed',
      1,
    ),
    refused(
      'a key with another id',
      'The id is of the name and the key.',
      lines(log.replace(/\+[0-9a-f]{8}\+/, '+00000000+'), 'quorum none'),
      'key_malformed',
      1,
    ),
    refused(
      'a key with padding that it does not need',
      'Base64 has one form for the same bytes.',
      lines(`witness a ${vkey('a')}=`, 'quorum a'),
      'key_malformed',
      1,
    ),
    refused(
      'a witness key of 31 bytes',
      'An Ed25519 key has 32.',
      lines(`witness a ${keyOf('w', 4, new Uint8Array(31))}`, 'quorum a'),
      'key_malformed',
      1,
    ),
    refused(
      'an ML-DSA-44 key that is a byte short',
      'It has 1,312.',
      lines(`witness q ${keyOf('w', 6, q.signer.publicKey.slice(1))}`, 'quorum q'),
      'key_malformed',
      1,
    ),
    refused(
      'a witness key of small order',
      'Such a key signs everything.',
      lines(`witness a ${keyOf('w', 4, small)}`, 'quorum a'),
      'key_malformed',
      1,
    ),
    refused(
      'a log’s key for a witness',
      'A witness’s key is of type 0x04 or 0x06.',
      lines(`witness a ${keyOf('w', 1, signer('a').publicKey)}`, 'quorum a'),
      'key_type',
      1,
    ),
    refused(
      'a witness’s key for a log',
      'A log’s key is of type 0x01.',
      lines(`log ${vkey('a')}`, 'quorum none'),
      'key_type',
      1,
    ),
    refused(
      'one log twice',
      'Also under another name.',
      lines(log, `log ${verifierKey('other.example', signers.log.publicKey)}`, 'quorum none'),
      'duplicate_key',
      2,
    ),
    refused(
      'one witness twice',
      'Else it would count twice.',
      lines(a, `witness b ${keyOf('other', 4, signer('a').publicKey)}`, 'group g all a b', 'quorum g'),
      'duplicate_key',
      2,
    ),
    refused(
      'two witnesses of one name',
      'Names are unique.',
      lines(a, `witness a ${vkey('b')}`, 'quorum a'),
      'duplicate_name',
      2,
    ),
    refused(
      'a group with the name of a witness',
      'Both share one space of names.',
      lines(a, witness('b'), 'group a any b', 'quorum a'),
      'duplicate_name',
      3,
    ),
    refused(
      'a witness named none',
      'The name is reserved.',
      lines(`witness none ${vkey('a')}`, 'quorum none'),
      'reserved_name',
      1,
    ),
    refused(
      'a group named none',
      'The name is reserved.',
      lines(a, 'group none any a', 'quorum none'),
      'reserved_name',
      2,
    ),
    refused(
      'none as a member',
      'It is no witness.',
      lines(a, 'group g any a none', 'quorum g'),
      'unknown_name',
      2,
    ),
    refused(
      'a member that is defined later',
      'A group names what stands before it.',
      lines(a, 'group g any a b', witness('b'), 'quorum g'),
      'unknown_name',
      2,
    ),
    refused(
      'a group in itself',
      'A group names what stands before it.',
      lines(a, 'group g any a g', 'quorum g'),
      'unknown_name',
      2,
    ),
    refused(
      'a member twice in a group',
      'It would count twice.',
      lines(a, 'group g 2 a a', 'quorum g'),
      'member_twice',
      2,
    ),
    refused(
      'a member of two groups',
      'A name is a member once at most.',
      lines(a, witness('b'), 'group g any a b', 'group h all a g', 'quorum h'),
      'member_twice',
      4,
    ),
    refused('a threshold of 0', 'At least 1.', lines(a, 'group g 0 a', 'quorum g'), 'threshold', 2),
    refused(
      'a threshold past the members',
      'At most as many as there are members.',
      lines(a, witness('b'), 'group g 3 a b', 'quorum g'),
      'threshold',
      3,
    ),
    refused(
      'a threshold with a sign',
      'Decimal digits.',
      lines(a, 'group g +1 a', 'quorum g'),
      'threshold',
      2,
    ),
    refused(
      'a threshold with a leading zero',
      'Decimal digits, without a leading zero.',
      lines(a, 'group g 01 a', 'quorum g'),
      'threshold',
      2,
    ),
    refused(
      'a threshold in words',
      'any, all or a number.',
      lines(a, 'group g most a', 'quorum g'),
      'threshold',
      2,
    ),
  ];
}
