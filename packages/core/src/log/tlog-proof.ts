import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { TallyError } from '../errors.ts';
import { isHash } from '../merkle/hash.ts';
import { isTreeSize } from '../merkle/subtree.ts';
import { parseCheckpointText } from './checkpoint.ts';
import { parseNote } from './note.ts';

const HEADER = 'c2sp.org/tlog-proof@v1';

/** Longest proof, in UTF-16 units: the longest note, a full path and 64 kB of extra data. */
const MAX_PROOF = 262_144;

/** Longest path: a tree of fewer than 2^53 leaves needs no longer one. */
const MAX_PATH = 53;

/** An inclusion proof that can be checked offline (C2SP tlog-proof). Reading it checks its form only. */
export interface TlogProof {
  /** Index of the leaf, from 0. */
  readonly index: number;
  /** Sibling hashes from the leaf to the root, 32 bytes each. */
  readonly path: readonly Uint8Array[];
  /** The log's signed note, as it stands. */
  readonly checkpoint: string;
  /** Extra data; nobody vouches for them. */
  readonly extra?: Uint8Array;
}

const syntax =
  /^c2sp\.org\/tlog-proof@v1\n(?:extra (\S+)\n)?index (0|[1-9]\d{0,15})\n((?:\S{44}\n){0,53})\n([^]+)$/;

const invalid = (message: string, cause?: unknown): TallyError =>
  new TallyError('tlog_proof_invalid', message, cause === undefined ? {} : { cause });

/** @throws tlog_proof_invalid when the parts make no proof */
export function formatTlogProof({ index, path, checkpoint, extra }: TlogProof): string {
  if (!isTreeSize(index)) throw invalid('The index of a leaf is an integer from 0 to 2^53-1.');
  if (path.length > MAX_PATH || !path.every(isHash))
    throw invalid(`A path is at most ${MAX_PATH} hashes of 32 bytes.`);
  if (extra?.length === 0) throw invalid('Leave the extra line out when there are no extra data.');
  requireCheckpoint(checkpoint);
  const lines = [
    HEADER,
    ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]),
    `index ${index}`,
    ...path.map(toBase64),
    '',
    checkpoint,
  ];
  return withinLimit(lines.join('\n'));
}

/** @throws tlog_proof_invalid for every text that `formatTlogProof` would not write */
export function parseTlogProof(text: string): TlogProof {
  const [, encodedExtra, digits, lines = '', checkpoint = ''] = syntax.exec(withinLimit(text)) ?? [];
  const index = Number(digits);
  if (!isTreeSize(index))
    throw invalid(`A proof is "${HEADER}", the index, the path, an empty line and a checkpoint.`);
  const extra = encodedExtra === undefined ? undefined : fromBase64(encodedExtra);
  if (extra === null) throw invalid('The extra data are not base64.');
  const path = lines.split('\n').slice(0, -1).map(hashOf);
  requireCheckpoint(checkpoint);
  return { index, path, checkpoint, ...(extra === undefined ? {} : { extra }) };
}

function withinLimit(text: string): string {
  if (text.length > MAX_PROOF) throw invalid(`A proof is at most ${MAX_PROOF} characters here.`);
  return text;
}

/** Many proofs end in the same checkpoint, and reading it took a tenth of the time of each proof. */
let lastCheckpoint = '';

function requireCheckpoint(note: string): void {
  if (note === lastCheckpoint) return;
  try {
    parseCheckpointText(parseNote(note).text);
  } catch (error) {
    throw invalid('The proof does not end in a checkpoint.', error);
  }
  lastCheckpoint = note;
}

function hashOf(line: string): Uint8Array {
  const hash = fromBase64(line);
  if (!isHash(hash)) throw invalid('A line of the path is the base64 of a hash of 32 bytes.');
  return hash;
}
