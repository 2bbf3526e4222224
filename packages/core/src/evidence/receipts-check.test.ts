import { expect, it } from 'vitest';
import {
  goodFiles,
  makeIssuer,
  manifestOf,
  partOf,
  receiptAt,
  sourceOf,
  zipOf,
} from '../../test/evidence-bundle.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import { createSigner } from '../ed25519/signer.ts';
import { utf8 } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { sha256 } from '../hash.ts';
import { anchoredHash } from '../index.ts';
import { canonicalize } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { anchoredRef } from '../log/anchor-ref.ts';
import { leafOf } from '../log/anchored.ts';
import { signCheckpoint } from '../log/checkpoint.ts';
import { cosignCheckpoint, withSignature, witnessKey } from '../log/cosignature.ts';
import { verifierKey } from '../log/verifier-key.ts';
import { nodeHash } from '../merkle/hash.ts';
import { parseWitnessPolicy } from '../witness/policy.ts';
import { partPaths } from './parts.ts';
import { type BundleProgress, verifyBundle } from './verify-bundle.ts';

const NOW = Date.UTC(2027, 2, 1);
const COUNT = 150;
const issuer = await makeIssuer();
const files = await goodFiles(issuer);
const receipts = await Promise.all(
  Array.from({ length: COUNT }, (_, index) =>
    receiptAt(issuer.receipt, NOW / 1000 - 1000 + index, String(index).padStart(12, '0')),
  ),
);
const contents = [...files.slice(0, 3), ...partOf(1, receipts)];
const manifest = await manifestOf(issuer, contents, (facts) => ({ ...facts, receipts: COUNT, metering: 0 }));
const bundle = zipOf([manifest, ...contents]);

it('of two receipts that do not hold, names the one that comes first', async () => {
  const waiting: (() => void)[] = [];
  // The signatures of the fourth and the seventh are refused, that of the fourth only once the other was.
  const engine: Ed25519Engine = {
    verify(publicKey, message, signature) {
      const text = new TextDecoder().decode(message);
      if (text.includes('_000000000003"')) {
        return new Promise((resolve) => waiting.push(() => resolve(false)));
      }
      if (!text.includes('_000000000006"')) return defaultEngine.verify(publicKey, message, signature);
      setTimeout(() => waiting.forEach((resolve) => resolve()));
      return false;
    },
  };
  await expect(verifyBundle(sourceOf(bundle), { now: NOW, engine })).rejects.toMatchObject({
    reason: 'receipt_invalid',
    message: expect.stringContaining('_000000000003: signature'),
  });
});

it('says how far it is, waits for whom it says it to, and ends where that throws', async () => {
  const said: BundleProgress[] = [];
  let telling = 0;
  const progress = async (done: BundleProgress): Promise<void> => {
    expect(telling).toBe(0);
    telling += 1;
    await new Promise((resolve) => setTimeout(resolve));
    telling -= 1;
    said.push(done);
  };
  const verdict = await verifyBundle(sourceOf(bundle), { now: NOW, progress });
  expect(verdict.receipts).toBe(COUNT);
  expect([...new Set(said.map((done) => done.receipts))]).toEqual([0, 64, 128, COUNT]);
  expect(said.at(-1)).toEqual({ bytes: expect.any(Number), of: bundle.length, receipts: COUNT });
  const stop = (): never => {
    throw new RangeError('Enough.');
  };
  await expect(verifyBundle(sourceOf(bundle), { now: NOW, progress: stop })).rejects.toThrow('Enough.');
});

it('judges each checkpoint by the policy, also where receipts under two of them take turns', async () => {
  const origin = 'log.example';
  const [log, witness] = await Promise.all(
    ['log', 'witness'].map((name) => createSigner(sha256(utf8(name)))),
  );
  if (log === undefined || witness === undefined) throw new Error('No signer.');
  const four = receipts.slice(0, 4);
  const hashes = four.map((text) => anchoredHash(parseJson(utf8(text)) as JsonObject));
  // The leaves are those of the receipts 0, 2, 1 and 3: the head of size 2, which was cosigned, covers the first two.
  const leaves = [0, 2, 1, 3].map((at) => leafOf(fromHex(hashes[at] ?? '')));
  const [a, b, c, d] = leaves as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const [left, right] = [nodeHash(a, b), nodeHash(c, d)];
  const small = await signCheckpoint({ origin, size: 2, root: left }, log);
  const line = await cosignCheckpoint(small, { name: 'w.example', signer: witness }, NOW / 1000);
  const cosigned = { size: 2, root: left, note: withSignature(small, line) };
  const root = nodeHash(left, right);
  const alone = { size: 4, root, note: await signCheckpoint({ origin, size: 4, root }, log) };
  const anchorAt = (index: number, path: readonly Uint8Array[], head: typeof cosigned): JsonObject => {
    const place = { network: 'base', blockHeight: 7, txHash: `0x${'ab'.repeat(32)}` };
    return {
      anchor_ref: anchoredRef({ ...place, index }),
      network: place.network,
      block_height: place.blockHeight,
      tx_hash: place.txHash,
      merkle_root: `sha256:${toHex(head.root)}`,
      merkle_path: path.map((node) => `sha256:${toHex(node)}`),
      verified_at: '2027-03-01T00:00:00Z',
      leaf_index: index,
      tree_size: head.size,
      checkpoint: head.note,
    };
  };
  const anchors = [
    anchorAt(0, [b], cosigned),
    anchorAt(2, [d, left], alone),
    anchorAt(1, [a], cosigned),
    anchorAt(3, [c, left], alone),
  ];
  const lines = four.map((text, at) => {
    const { receipt } = parseJson(utf8(text)) as { receipt: JsonObject };
    const found = {
      receipt_id: receipt.id ?? null,
      receipt_sha256: hashes[at] ?? '',
      anchor: anchors[at] ?? null,
    };
    return `${canonicalize(found)}\n`;
  });
  const [file] = partOf(1, four);
  if (file === undefined) throw new Error('No part.');
  const part = [file, { path: partPaths(1).anchors, bytes: utf8(lines.join('')) }];
  const all = [...files.slice(0, 3), ...part];
  const own = await manifestOf(issuer, all, (facts) => ({ ...facts, receipts: 4, anchored: 4, metering: 0 }));
  const policy = [
    `log ${verifierKey(origin, log.publicKey)}`,
    `witness w ${witnessKey('w.example', witness.publicKey)}`,
    'quorum w',
  ];
  const verdict = await verifyBundle(sourceOf(zipOf([own, ...all])), {
    now: NOW,
    witnessPolicy: parseWitnessPolicy(policy.join('\n')),
  });
  expect(verdict).toMatchObject({
    anchored: 4,
    unlogged: 4,
    unwitnessed: 2,
    witnessed: { required: 1, satisfied: false, by: [], of: 1 },
  });
});
