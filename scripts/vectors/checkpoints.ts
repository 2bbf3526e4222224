import {
  type Checkpoint,
  checkpointText,
  cosignCheckpoint,
  formatNote,
  fromBase64url,
  merkleRoot,
  type NoteSignature,
  noteKeyHash,
  type Signer,
  signCheckpoint,
  toBase64url,
  toHex,
  utf8,
  verifierKey,
  withSignature,
} from '../../packages/core/src/index.ts';
import { ORIGIN } from './anchor-base.ts';
import { withLargeS } from './forged.ts';
import { signers } from './keys.ts';

/** A signed note to open as a checkpoint of the log, and the witness whose cosignature is checked. */
export interface CheckpointCase {
  readonly name: string;
  readonly comment: string;
  readonly note: string;
  readonly log: { readonly origin: string; readonly public_key: string; readonly verifier_key: string };
  readonly witness: { readonly name: string; readonly public_key: string };
  /** `cosigned_at` is in Unix seconds, null without a good cosignature. */
  readonly expected:
    | { readonly size: number; readonly root: string; readonly cosigned_at: number | null }
    | { readonly code: string };
}

const WITNESS = 'witness.example/w1';
const TIME = 1_768_476_600;
const root = merkleRoot([]);
const head: Checkpoint = { origin: ORIGIN, size: 7, root: root.toReversed() };
const witness = { name: WITNESS, signer: signers.stranger };

const base = {
  log: {
    origin: ORIGIN,
    public_key: toBase64url(signers.log.publicKey),
    verifier_key: verifierKey(ORIGIN, signers.log.publicKey),
  },
  witness: { name: WITNESS, public_key: toBase64url(signers.stranger.publicKey) },
};

function opened(
  name: string,
  comment: string,
  note: string,
  { size = head.size, root = head.root }: Partial<Checkpoint> = {},
  cosigned_at: number | null = null,
): CheckpointCase {
  return { name, comment, note, ...base, expected: { size, root: toHex(root), cosigned_at } };
}

function refused(name: string, comment: string, note: string, code: string): CheckpointCase {
  return { name, comment, note, ...base, expected: { code } };
}

/** A signature line in the name of the log's key over any text, made by the log or another signer. */
async function lineOver(text: string, signer: Signer = signers.log): Promise<NoteSignature> {
  const keyHash = noteKeyHash(ORIGIN, 1, signers.log.publicKey);
  return { name: ORIGIN, keyHash, signature: await signer.sign(utf8(text)) };
}

/** A note over any text, signed by the log. */
async function noteOver(text: string, ...more: readonly NoteSignature[]): Promise<string> {
  return formatNote({ text, signatures: [await lineOver(text), ...more] });
}

export async function checkpointCases(): Promise<CheckpointCase[]> {
  const note = await signCheckpoint(head, signers.log);
  return [
    ...(await openedCases(note)),
    ...(await cosignedCases(note)),
    ...(await unsignedCases(note)),
    ...(await malformedTextCases()),
    ...malformedNoteCases(note),
  ];
}

async function openedCases(note: string): Promise<CheckpointCase[]> {
  const text = checkpointText(head);
  const empty = { origin: ORIGIN, size: 0, root };
  const largest = { ...head, size: Number.MAX_SAFE_INTEGER };
  const unknown = { name: 'other.example', keyHash: 7, signature: new Uint8Array(2420) };
  const signed = await lineOver(text);
  return [
    opened('seven leaves', 'Three lines and the log’s signature.', note),
    opened('no leaves', 'The root of the empty tree.', await signCheckpoint(empty, signers.log), empty),
    opened('2^53-1 leaves', 'The largest tree.', await signCheckpoint(largest, signers.log), largest),
    opened(
      'extension line',
      'Of another log’s making: signed, and not read.',
      await noteOver(`${text}extension\n`),
    ),
    opened('signature of an unknown key', 'It is passed over.', await noteOver(text, unknown)),
    opened(
      'unknown key of the log’s name',
      'Name and key id tell a key together.',
      await noteOver(text, { ...unknown, name: ORIGIN }),
    ),
    opened(
      'unknown key of the log’s key id',
      'Name and key id tell a key together.',
      await noteOver(text, { ...unknown, keyHash: signed.keyHash }),
    ),
    opened(
      'the log’s signature last',
      'The order says nothing.',
      formatNote({ text, signatures: [unknown, signed] }),
    ),
    opened('the log’s signature twice', 'Both are good.', await noteOver(text, signed)),
  ];
}

async function cosignedCases(note: string): Promise<CheckpointCase[]> {
  const line = await cosignCheckpoint(note, witness, TIME);
  const cosigned = withSignature(note, line);
  const later = await cosignCheckpoint(note, witness, TIME + 1);
  const other = await cosignCheckpoint(note, { ...witness, name: 'witness.example/w2' }, TIME);
  const elsewhere = await signCheckpoint({ ...head, size: 8 }, signers.log);
  const misplaced = await cosignCheckpoint(elsewhere, witness, TIME);
  const bytes = Array.from(atob(line.trimEnd().split(' ')[2] ?? ''), (c) => c.charCodeAt(0));
  const redated = bytes.with(11, (bytes[11] ?? 0) ^ 1);
  const redatedLine = `— ${WITNESS} ${btoa(String.fromCharCode(...redated))}\n`;
  return [
    opened('cosigned', 'A witness saw it at that time.', cosigned, head, TIME),
    opened(
      'cosigned at 0',
      'The earliest time.',
      withSignature(note, await cosignCheckpoint(note, witness, 0)),
      head,
      0,
    ),
    opened('cosigned twice', 'The latest time counts.', `${note}${later}${line}`, head, TIME + 1),
    opened('cosigned by another witness', 'Not the one that is looked for.', `${note}${other}`),
    opened('cosigned, other time', 'The time is signed.', `${note}${redatedLine}`),
    opened('cosignature of another checkpoint', 'It is over the text.', `${note}${misplaced}`),
    opened(
      'cosignature without a time',
      'A time is 8 bytes.',
      `${note}— ${WITNESS} ${btoa(String.fromCharCode(...bytes.slice(0, 8)))}\n`,
    ),
    opened(
      'a good and a bad cosignature',
      'Every one of the key must be good.',
      `${note}${line}${redatedLine}`,
    ),
    refused(
      'only cosigned',
      'The log has not signed.',
      `${checkpointText(head)}\n${line}`,
      'checkpoint_signature_invalid',
    ),
  ];
}

async function unsignedCases(note: string): Promise<CheckpointCase[]> {
  const code = 'checkpoint_signature_invalid';
  const text = checkpointText(head);
  const good = await lineOver(text);
  const flipped = good.signature.with(0, (good.signature[0] ?? 0) ^ 1);
  const largeS = fromBase64url(withLargeS(toBase64url(good.signature)), 64);
  const bad = (signature: Uint8Array): string => formatNote({ text, signatures: [{ ...good, signature }] });
  return [
    refused(
      'signed by another key',
      'Under the log’s name.',
      await signCheckpoint(head, signers.stranger),
      code,
    ),
    refused(
      'signed by another key under the log’s key id',
      'The key id proves nothing.',
      formatNote({ text, signatures: [await lineOver(text, signers.stranger)] }),
      code,
    ),
    refused(
      'another origin',
      'Signed by the log’s key, but not this log.',
      await signCheckpoint({ ...head, origin: 'other.example/log' }, signers.log),
      code,
    ),
    refused(
      'another origin under the log’s name',
      'The first line names the log.',
      await noteOver(checkpointText({ ...head, origin: 'other.example/log' })),
      code,
    ),
    refused('size changed', 'After it was signed.', note.replace('\n7\n', '\n8\n'), code),
    refused('one bit of the signature', 'It is not the log’s.', bad(flipped), code),
    refused('S + L', 'S must be below the group order.', bad(largeS), code),
    refused('63 bytes', 'A signature has 64.', bad(good.signature.slice(1)), code),
    refused('65 bytes', 'A signature has 64.', bad(Uint8Array.of(...good.signature, 0)), code),
    refused(
      'a good and a bad signature of the log',
      'Every one of the key must be good.',
      formatNote({ text, signatures: [good, { ...good, signature: flipped }] }),
      code,
    ),
    refused(
      'the cosignature’s key id',
      'Another signature type.',
      formatNote({ text, signatures: [{ ...good, keyHash: noteKeyHash(ORIGIN, 4, signers.log.publicKey) }] }),
      code,
    ),
  ];
}

async function malformedTextCases(): Promise<CheckpointCase[]> {
  const [origin, size, hash] = checkpointText(head).split('\n');
  const list: readonly (readonly [string, string])[] = [
    ['two lines', `${origin}\n${size}\n`],
    ['empty origin', `\n${size}\n${hash}\n`],
    ['leading zero', `${origin}\n07\n${hash}\n`],
    ['size with a sign', `${origin}\n+7\n${hash}\n`],
    ['size with a space', `${origin}\n7 \n${hash}\n`],
    ['size in hex', `${origin}\n0x7\n${hash}\n`],
    ['size past 2^53-1', `${origin}\n9007199254740992\n${hash}\n`],
    ['root unpadded', `${origin}\n${size}\n${hash?.replace('=', '')}\n`],
    ['root in base64url', `${origin}\n${size}\n${'_'.repeat(42)}8=\n`],
    ['root with spare bits', `${origin}\n${size}\n${'A'.repeat(42)}B=\n`],
    ['root of 31 bytes', `${origin}\n${size}\n${'A'.repeat(42)}==\n`],
    ['root of 33 bytes', `${origin}\n${size}\n${'A'.repeat(44)}\n`],
    ['root in hex', `${origin}\n${size}\n${toHex(root)}\n`],
    ['empty extension line', `${origin}\n${size}\n${hash}\n\nextension\n`],
  ];
  return Promise.all(
    list.map(async ([name, text]) =>
      refused(`text: ${name}`, 'Signed, but no checkpoint.', await noteOver(text), 'checkpoint_invalid'),
    ),
  );
}

function malformedNoteCases(note: string): CheckpointCase[] {
  const [text = '', line = ''] = note.split('\n\n');
  const [, name = '', signature = ''] = line.trimEnd().split(' ');
  const list: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['no signature', `${text}\n\n`],
    ['no empty line', `${text}\n${line}`],
    ['no newline at the end', note.slice(0, -1)],
    ['newline too many', `${note}\n`],
    ['CRLF', note.replaceAll('\n', '\r\n')],
    ['tab', note.replace('7', '7\t')],
    ['byte 0', note.replace('7', '7\0')],
    ['hyphen for the dash', note.replace('— ', '- ')],
    ['two spaces', note.replace('— ', '—  ')],
    ['space at the end', `${text}\n\n— ${name} ${signature} \n`],
    ['no name', `${text}\n\n—  ${signature}\n`],
    ['plus in the name', `${text}\n\n— a+b ${signature}\n`],
    ['no-break space in the name', `${text}\n\n— a\u00a0b ${signature}\n`],
    ['signature unpadded', `${text}\n\n— ${name} AAAAAAA\n`],
    ['signature padded too much', `${text}\n\n— ${name} AAAAAAA==\n`],
    ['signature in base64url', `${text}\n\n— ${name} ____AAA=\n`],
    ['signature with spare bits', `${text}\n\n— ${name} AAAAAAB=\n`],
    ['only a key id', `${text}\n\n— ${name} AAAAAA==\n`],
    ['another line among the signatures', `${text}\n\nnote\n${line}`],
    ['lone surrogate', note.replace('7', '7\ud800')],
  ];
  return list.map(([what, malformed]) =>
    refused(`note: ${what}`, 'Not a signed note.', malformed, 'note_invalid'),
  );
}
