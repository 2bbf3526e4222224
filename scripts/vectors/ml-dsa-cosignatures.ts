import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import {
  type CosigningKey,
  cosignCheckpoint,
  sha256,
  signCheckpoint,
  utf8,
  witnessKey,
} from '../../packages/core/src/index.ts';
import { ORIGIN } from './anchor-base.ts';
import { signers } from './keys.ts';

/** A checkpoint, and the key of a witness that cosigns by ML-DSA-44. */
export interface MlDsaCosignatureCase {
  readonly name: string;
  readonly comment: string;
  readonly note: string;
  readonly witness: string;
  /** Unix seconds; null without a good cosignature. */
  readonly expected: number | null;
}

const TIME = 1_768_476_600;
const NAME = 'witness.example/pq';

/** A witness that cosigns by ML-DSA-44, with the same signature each time. */
export function mlDsaWitness(name: string, seed: string): { name: string; signer: CosigningKey } {
  const { publicKey, secretKey } = ml_dsa44.keygen(sha256(utf8(`tallystick vector ML-DSA-44 key: ${seed}`)));
  const sign = async (message: Uint8Array): Promise<Uint8Array> =>
    ml_dsa44.sign(message, secretKey, { extraEntropy: false });
  return { name, signer: { publicKey, sign } };
}

export async function mlDsaCosignatureCases(): Promise<MlDsaCosignatureCase[]> {
  const note = await signCheckpoint({ origin: ORIGIN, size: 7, root: sha256(utf8('seven')) }, signers.log);
  const elsewhere = await signCheckpoint(
    { origin: ORIGIN, size: 8, root: sha256(utf8('eight')) },
    signers.log,
  );
  const witness = mlDsaWitness(NAME, 'witness');
  const line = await cosignCheckpoint(note, witness, TIME);
  const later = await cosignCheckpoint(note, witness, TIME + 1);
  const renamed = await cosignCheckpoint(note, mlDsaWitness('witness.example/other', 'witness'), TIME);
  const misplaced = await cosignCheckpoint(elsewhere, witness, TIME);
  const redated = changed(line, (bytes) => bytes.with(11, (bytes[11] ?? 0) ^ 1));
  const undated = changed(line, (bytes) =>
    Uint8Array.from([...bytes.slice(0, 4), ...new Uint8Array(8), ...bytes.slice(12)]),
  );
  const short = changed(line, (bytes) => bytes.slice(0, -1));
  const one = (
    name: string,
    comment: string,
    lines: string,
    expected: number | null = null,
  ): MlDsaCosignatureCase => ({
    name,
    comment,
    note: `${note}${lines}`,
    witness: witnessKey(NAME, witness.signer.publicKey),
    expected,
  });
  return [
    one('cosigned', 'A witness saw it at that time.', line, TIME),
    one('cosigned twice', 'The latest time counts.', `${later}${line}`, TIME + 1),
    one('not cosigned', 'Only the log has signed.', ''),
    one('by the same key under another name', 'The name is signed, and part of the key id.', renamed),
    one('of another checkpoint', 'Size and root are signed.', misplaced),
    one('other time', 'The time is signed.', redated),
    one('time 0', 'It says nothing of when.', undated),
    one('a byte short', '2,420 bytes after the time.', short),
    one('a good and a bad one', 'Every one of the key must be good.', `${line}${redated}`),
  ];
}

/** The line with other bytes; the first four are the key id, the next eight the time. */
function changed(line: string, by: (bytes: Uint8Array) => Uint8Array): string {
  const [dash, name, encoded = ''] = line.trimEnd().split(' ');
  return `${dash} ${name} ${Buffer.from(by(Buffer.from(encoded, 'base64'))).toString('base64')}\n`;
}
