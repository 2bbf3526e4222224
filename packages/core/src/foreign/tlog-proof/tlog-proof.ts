import { equalBytes, utf8 } from '../../encoding/bytes.ts';
import { type Checkpoint, parseCheckpointText } from '../../log/checkpoint.ts';
import { ED25519, type NoteSignature, noteKeyHash, parseNote } from '../../log/note.ts';
import { parseTlogProof, type TlogProof } from '../../log/tlog-proof.ts';
import { leafHash } from '../../merkle/hash.ts';
import { rootFromInclusion } from '../../merkle/inclusion.ts';
import { orNull } from '../../or-null.ts';
import { type Check, check, unchecked } from '../../receipts/family.ts';
import { isWithin, logsOf } from '../../trust/authority.ts';
import { type ForeignFamily, ForeignFault, type ForeignReceipt, type ForeignSignature } from '../family.ts';
import { ed25519Key, type ForeignKey } from '../keys.ts';

/** Inclusion proofs of any log (C2SP tlog-proof), each with the checkpoint that it leads to. */
export const tlogProof: ForeignFamily = {
  name: 'tlog_proof',
  recognises: (document) => typeof document === 'string' && document.startsWith('c2sp.org/tlog-proof@'),
  read(document, { entry }) {
    const proof = typeof document === 'string' ? orNull(() => parseTlogProof(document)) : null;
    if (proof === null) throw new ForeignFault('It is no tlog-proof of version 1.');
    const { text, signatures } = parseNote(proof.checkpoint);
    const checkpoint = parseCheckpointText(text);
    const lines = new Set(signatures.map(({ name, keyHash }) => `${name} ${keyHash}`));
    if (lines.size < signatures.length)
      throw new ForeignFault('The checkpoint has two signatures of one key.');
    const receipt: ForeignReceipt = {
      profile: `index ${proof.index} of ${checkpoint.size}`,
      id: null,
      issuedAt: null,
      signatures: signatures.map((line) => signatureOf(line, checkpoint, text)),
      checks: [inclusionCheck(proof, checkpoint, entry)],
      document,
    };
    if (entry !== undefined) return [receipt];
    return [
      { ...receipt, undecided: 'Without the entry, nothing shows what the proof is about: give the entry.' },
    ];
  },
  notes: () => [
    'It proves that the log contains the entry, not that what the entry says is true, nor when it was added.',
    'It does not prove that others see the same log: that takes witnesses, whose cosignatures are not looked at here.',
  ],
};

function signatureOf(line: NoteSignature, { origin, size }: Checkpoint, text: string): ForeignSignature {
  return {
    algorithm: 'EdDSA',
    message: utf8(text),
    signature: line.signature,
    carried: null,
    keyId: line.name,
    fits: (key) => isKeyOf(line, key, origin),
    vouched: ({ anchors }) =>
      logsOf(anchors, origin)
        .filter((log) => isWithin(log, size) === true)
        .map(({ publicKey }) => ed25519Key(publicKey)),
  };
}

/** Returns whether a line is of this key: under the name that the key was given with, else under the log's own. */
function isKeyOf(line: NoteSignature, key: ForeignKey, origin: string): boolean {
  if (key.kind !== 'Ed25519' || line.name !== (key.log ?? origin)) return false;
  return noteKeyHash(line.name, ED25519, key.publicKey) === line.keyHash;
}

function inclusionCheck(
  { index, path }: TlogProof,
  { size, root }: Checkpoint,
  entry: Uint8Array | undefined,
): Check {
  if (entry === undefined)
    return unchecked('inclusion', 'No entry was given whose inclusion could be checked.');
  const reached = orNull(() => rootFromInclusion(index, size, leafHash(entry), path));
  return check(
    'inclusion',
    reached !== null && equalBytes(reached, root),
    `The entry is number ${index} of the ${size} in the log.`,
    'The path does not lead from the entry to the root of the checkpoint.',
  );
}
