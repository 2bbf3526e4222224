import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { TallyError } from '../errors.ts';
import { isHash } from '../merkle/hash.ts';
import { isTreeSize } from '../merkle/subtree.ts';
import { parseCheckpointText } from './checkpoint.ts';
import { parseNote } from './note.ts';

const HEADER = 'c2sp.org/tlog-proof@v1';

/** Longest proof, in UTF-16 units: the longest note, a full path and 64 kB of extra data. */
const MAX_PROOF = 262_144;

/** An inclusion proof that can be checked offline (C2SP tlog-proof). Reading it checks its form only. */
export interface TlogProof {
  /** From 0. */
  readonly index: number;
  /** Sibling hashes from the leaf to the root, 32 bytes each. */
  readonly path: readonly Uint8Array[];
  /** The log's signed note, as it stands. */
  readonly checkpoint: string;
  /** Nobody vouches for it. */
  readonly extra?: Uint8Array;
}

const syntax =
  /^c2sp\.org\/tlog-proof@v1\n(?:extra (\S+)\n)?index (0|[1-9]\d{0,15})\n((?:\S{44}\n){0,53})\n([^]+)$/;

const invalid = (message: string, cause?: unknown): TallyError =>
  new TallyError('tlog_proof_invalid', message, cause === undefined ? {} : { cause });

/** @throws tlog_proof_invalid when the parts make no proof */
export function formatTlogProof({ index, path, checkpoint, extra }: TlogProof): string {
  const text = [
    HEADER,
    ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]),
    `index ${index}`,
    ...path.map(toBase64),
    '',
    checkpoint,
  ].join('\n');
  parseTlogProof(text);
  return text;
}

/** @throws tlog_proof_invalid for every text that `formatTlogProof` would not write */
export function parseTlogProof(text: string): TlogProof {
  if (text.length > MAX_PROOF) throw invalid(`A proof is at most ${MAX_PROOF} characters here.`);
  const [, encodedExtra, digits, lines = '', checkpoint = ''] = syntax.exec(text) ?? [];
  const index = Number(digits);
  if (!isTreeSize(index))
    throw invalid(`A proof is "${HEADER}", the index, the path, an empty line and a checkpoint.`);
  const extra = encodedExtra === undefined ? undefined : fromBase64(encodedExtra);
  if (extra === null) throw invalid('The extra data are not base64.');
  const path = lines.split('\n').slice(0, -1).map(hashOf);
  try {
    parseCheckpointText(parseNote(checkpoint).text);
  } catch (error) {
    throw invalid('The proof does not end in a checkpoint.', error);
  }
  return { index, path, checkpoint, ...(extra === undefined ? {} : { extra }) };
}

function hashOf(line: string): Uint8Array {
  const hash = fromBase64(line);
  if (!isHash(hash)) throw invalid('A line of the path is the base64 of a hash of 32 bytes.');
  return hash;
}
