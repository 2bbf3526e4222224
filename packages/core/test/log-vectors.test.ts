import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AnchorRefCase } from '../../../scripts/vectors/anchor-refs.ts';
import type { CheckpointCase } from '../../../scripts/vectors/checkpoints.ts';
import type { MlDsaCosignatureCase } from '../../../scripts/vectors/ml-dsa-cosignatures.ts';
import type { TlogProofCase } from '../../../scripts/vectors/tlog-proofs.ts';
import type { WitnessPolicyCase } from '../../../scripts/vectors/witness-policies.ts';
import {
  type AnchorRef,
  anchoredHash,
  anchoredRef,
  checkCosignature,
  defaultEngine,
  formatNote,
  formatTlogProof,
  fromBase64url,
  fromHex,
  leafHash,
  openCheckpoint,
  PolicyFault,
  parseAnchorRef,
  parseCheckpointText,
  parseNote,
  parseTlogProof,
  parseVerifierKey,
  parseWitnessKey,
  parseWitnessPolicy,
  pendingRef,
  sha256,
  toBase64url,
  toHex,
  utf8,
  verifierKey,
  verifyInclusion,
  witnessKey,
} from '../src/index.ts';
import { anchorCases, outcome, readVectors } from './receipt-vectors.ts';

test.each(readVectors<CheckpointCase>('checkpoints.json'))('checkpoints.json: $name', async (vector) => {
  const { note, log, witness, expected } = vector;
  const publicKey = fromBase64url(log.public_key, 32);
  const found = await outcome(async () => {
    const { origin, size, root } = await openCheckpoint(note, { origin: log.origin, publicKey });
    expect(origin).toBe(log.origin);
    expect(formatNote(parseNote(note))).toBe(note);
    const cosigner = { name: witness.name, publicKey: fromBase64url(witness.public_key, 32) };
    return { size, root: toHex(root), cosigned_at: await checkCosignature(note, cosigner) };
  });
  expect(found).toEqual(expected);
  expect(parseVerifierKey(log.verifier_key)).toEqual({ name: log.origin, publicKey });
});

test.each(readVectors<MlDsaCosignatureCase>('ml-dsa-cosignatures.json'))(
  'ml-dsa-cosignatures.json: $name',
  async ({ note, witness, expected }) => {
    const key = parseWitnessKey(witness);
    expect(witnessKey(key.name, key.publicKey)).toBe(witness);
    expect(await checkCosignature(note, key)).toBe(expected);
    const digit = witness.indexOf('+') + 1;
    const other = witness.slice(0, digit) + (witness[digit] === '0' ? '1' : '0') + witness.slice(digit + 1);
    expect(() => parseWitnessKey(other)).toThrow('key id');
  },
);

test.each(readVectors<TlogProofCase>('tlog-proofs.json'))('tlog-proofs.json: $name', async (vector) => {
  const { text, entry, expected } = vector;
  const found = await outcome(() => {
    const proof = parseTlogProof(text);
    expect(formatTlogProof(proof)).toBe(text);
    const { index, path, checkpoint, extra } = proof;
    const { size, root } = parseCheckpointText(parseNote(checkpoint).text);
    const included = verifyInclusion({ index, size, root, path, leafHash: leafHash(fromHex(entry, 32)) });
    return { index, path: path.map(toHex), extra: extra === undefined ? null : toHex(extra), included };
  });
  expect(found).toEqual(expected);
});

test.each(readVectors<WitnessPolicyCase>('witness-policies.json'))(
  'witness-policies.json: $name',
  async (vector) => {
    expect(await judgedPolicy(vector)).toEqual(vector.expected);
  },
);

async function judgedPolicy({ policy, policy_base64, checkpoint }: WitnessPolicyCase): Promise<unknown> {
  const bytes = Uint8Array.from(Buffer.from(policy_base64, 'base64'));
  expect(policy === null ? bytes : utf8(policy)).toEqual(bytes);
  try {
    const parsed = parseWitnessPolicy(bytes);
    const { witnessed } = await parsed.judge(checkpoint ?? undefined, [], defaultEngine);
    return { witnessed, unknown_keys: parsed.findings.length };
  } catch (error) {
    if (!(error instanceof PolicyFault)) throw error;
    const { code, reason, line } = error;
    return { code, reason, line };
  }
}

function written(ref: AnchorRef): string {
  if (ref.kind === 'anchored') return anchoredRef(ref);
  return pendingRef(Date.parse(ref.batchId.replace('Z', ':00Z')) / 1000, ref.index);
}

test.each(readVectors<AnchorRefCase>('anchor-refs.json'))('anchor-refs.json: $name', async (vector) => {
  const { text, expected } = vector;
  const found = await outcome(() => {
    const ref = parseAnchorRef(text);
    expect(written(ref)).toBe(text);
    if (ref.kind === 'pending') return { kind: ref.kind, batch_id: ref.batchId, leaf_index: ref.index };
    const { kind, network, blockHeight, txHash, index } = ref;
    return { kind, network, block_height: blockHeight, tx_hash: txHash, leaf_index: index };
  });
  expect(found).toEqual(expected);
});

test('anchor.md computes with the second of two leaves', () => {
  const page = readFileSync(new URL('../../../spec/anchor.md', import.meta.url), 'utf8');
  const { document, transaction, authority } = anchorCases.find(({ name }) => name === 'leaf 1 of 2') ?? {};
  const hash = fromHex(anchoredHash(document), 32);
  const log = authority?.log;
  const figures = [
    toHex(hash),
    toBase64url(hash),
    toHex(leafHash(hash)),
    toHex(sha256(utf8(log?.origin ?? ''))),
    verifierKey(log?.origin ?? '', fromBase64url(log?.public_key ?? '', 32)),
    transaction?.data ?? 'none',
  ];
  expect(figures.filter((figure) => !page.includes(figure))).toEqual([]);
});
