import {
  formatTlogProof,
  fromHex,
  inclusionProof,
  leafHash,
  merkleRoot,
  sha256,
  signCheckpoint,
  type TlogProof,
  toHex,
  utf8,
} from '../../packages/core/src/index.ts';
import { ORIGIN } from './anchor-base.ts';
import { signers } from './keys.ts';

/** A C2SP tlog-proof as text, and the entry whose inclusion it should prove (32 bytes, hex). */
export interface TlogProofCase {
  readonly name: string;
  readonly comment: string;
  readonly text: string;
  /** The entry that the proof is about: 32 bytes, hex. */
  readonly entry: string;
  /** `included`: the path leads from the entry to the checkpoint's root. */
  readonly expected:
    | {
        readonly index: number;
        readonly path: readonly string[];
        readonly extra: string | null;
        readonly included: boolean;
      }
    | { readonly code: string };
}

const entries = Array.from({ length: 7 }, (_, index) => sha256(utf8(`leaf ${index}`)));
const hashes = entries.map((entry) => leafHash(entry));

/** The proof of a leaf in the tree of the first `size` leaves. */
async function proofOf(index: number, size: number): Promise<TlogProof> {
  const tree = hashes.slice(0, size);
  const checkpoint = await signCheckpoint({ origin: ORIGIN, size, root: merkleRoot(tree) }, signers.log);
  return { index, path: inclusionProof(tree, index), checkpoint };
}

function read(
  name: string,
  comment: string,
  proof: TlogProof,
  entry: number,
  included = true,
): TlogProofCase {
  const { index, path, extra } = proof;
  return {
    name,
    comment,
    text: formatTlogProof(proof),
    entry: toHex(entries[entry] ?? new Uint8Array(32)),
    expected: { index, path: path.map(toHex), extra: extra === undefined ? null : toHex(extra), included },
  };
}

export async function tlogProofCases(): Promise<TlogProofCase[]> {
  const good = await proofOf(3, 7);
  const places = [
    [0, 1],
    [0, 2],
    [1, 2],
    [2, 3],
    [0, 7],
    [6, 7],
  ] as const;
  const placed = places.map(async ([index, size]) =>
    read(
      `leaf ${index} of ${size}`,
      'Siblings from the leaf to the root.',
      await proofOf(index, size),
      index,
    ),
  );
  const [first = new Uint8Array(32), ...rest] = good.path;
  return [
    read('leaf 3 of 7', 'Siblings from the leaf to the root.', good, 3),
    ...(await Promise.all(placed)),
    read('extra data', 'Nobody vouches for them.', { ...good, extra: utf8('more') }, 3),
    read('another entry', 'Well-formed, but of another leaf.', good, 2, false),
    read('another index', 'Well-formed, but the sides differ.', { ...good, index: 2 }, 3, false),
    read(
      'one bit of the path',
      'Well-formed, but leads elsewhere.',
      { ...good, path: [first.with(0, (first[0] ?? 0) ^ 1), ...rest] },
      3,
      false,
    ),
    read('path too short', 'Well-formed; the place decides the length.', { ...good, path: rest }, 3, false),
    read('index past the size', 'Well-formed; there is no such leaf.', { ...good, index: 7 }, 3, false),
    ...malformedCases(formatTlogProof(good)),
  ];
}

function malformedCases(text: string): TlogProofCase[] {
  const line = text.split('\n')[2] ?? '';
  const list: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['another version', text.replace('@v1', '@v2')],
    ['no index', text.replace('index 3\n', '')],
    ['leading zero', text.replace('index 3', 'index 03')],
    ['negative index', text.replace('index 3', 'index -3')],
    ['index past 2^53-1', text.replace('index 3', 'index 9007199254740992')],
    ['two spaces', text.replace('index 3', 'index  3')],
    ['extra after the index', text.replace('index 3\n', 'index 3\nextra AAAA\n')],
    ['extra empty', text.replace('index', 'extra \nindex')],
    ['extra unpadded', text.replace('index', 'extra AA\nindex')],
    ['extra twice', text.replace('index', 'extra AAAA\nextra AAAA\nindex')],
    ['hash unpadded', text.replace(line, line.slice(0, -1))],
    ['hash with spare bits', text.replace(line, `${'A'.repeat(42)}B=`)],
    ['hash of 33 bytes', text.replace(line, 'A'.repeat(44))],
    ['hash in hex', text.replace(line, toHex(fromHex('00'.repeat(32))))],
    ['54 hashes', text.replace(line, Array(54).fill(line).join('\n'))],
    ['no empty line', text.replace('\n\n', '\n')],
    ['no checkpoint', text.slice(0, text.indexOf('\n\n') + 2)],
    ['checkpoint not a note', text.slice(0, text.lastIndexOf('\n\n') + 1)],
    ['checkpoint without a size', text.replace('\n7\n', '\n')],
    ['CRLF', text.replaceAll('\n', '\r\n')],
    ['no newline at the end', text.slice(0, -1)],
  ];
  return list.map(([name, malformed]) => ({
    name: `form: ${name}`,
    comment: 'The form is wrong.',
    text: malformed,
    entry: toHex(entries[3] ?? new Uint8Array(32)),
    expected: { code: 'tlog_proof_invalid' },
  }));
}
