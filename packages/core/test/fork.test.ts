import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createSigner,
  foldNodes,
  forkOf,
  generateSecretKey,
  inclusionProof,
  leafHash,
  merkleRoot,
  signCheckpoint,
  subproofNodes,
  toHex,
  utf8,
  verifierKey,
  verifyFork,
} from '../src/index.ts';

const ORIGIN = 'log.example';
const signer = await createSigner(generateSecretKey());
const log = verifierKey(ORIGIN, signer.publicKey);

const leavesOf = (names: readonly string[]): Uint8Array[] => names.map((name) => leafHash(utf8(name)));
const noteOf = (leaves: readonly Uint8Array[]): Promise<string> =>
  signCheckpoint({ origin: ORIGIN, size: leaves.length, root: merkleRoot(leaves) }, signer);

function subproof(leaves: readonly Uint8Array[], from: number): Uint8Array[] {
  return subproofNodes(from, leaves.length).map((nodes) =>
    foldNodes(
      nodes.map(({ level, index }) => merkleRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))),
    ),
  );
}

/** Two trees that agree up to the leaf at which they differ. */
const diverging = fc
  .record({ small: fc.integer({ min: 1, max: 40 }), more: fc.nat(60), at: fc.nat() })
  .map(({ small, more, at }) => {
    const names = Array.from({ length: small + more }, (_, index) => `leaf ${index}`);
    const differs = at % small;
    const other = names.slice(0, small).map((name, index) => (index === differs ? `${name}, forged` : name));
    return { larger: leavesOf(names), smaller: leavesOf(other), differs };
  });

test('the fork file of any two diverging trees verifies, in either order', async () => {
  await fc.assert(
    fc.asyncProperty(diverging, fc.boolean(), async ({ smaller, larger }, swap) => {
      const notes = [await noteOf(smaller), await noteOf(larger)] as const;
      const file = await forkOf(
        { log, notes: swap ? [notes[1], notes[0]] : notes },
        smaller.length === larger.length ? [] : subproof(larger, smaller.length),
      );
      const kind = smaller.length === larger.length ? 'roots' : 'subtrees';
      expect(await verifyFork(JSON.parse(JSON.stringify(file)))).toMatchObject({ kind, origin: ORIGIN });
    }),
    { numRuns: 60 },
  );
});

test('two inclusion proofs of one index with different leaves are a fork', async () => {
  await fc.assert(
    fc.asyncProperty(diverging, async ({ smaller, larger, differs }) => {
      const place = (leaves: readonly Uint8Array[], index: number) => ({
        leaf_hash: toHex(leaves[index] ?? new Uint8Array(32)),
        path: inclusionProof(leaves, index).map(toHex),
      });
      const proof = (index: number) => ({
        kind: 'leaves',
        index,
        in_smaller: place(smaller, index),
        in_larger: place(larger, index),
      });
      const file = {
        type: 'svc-log-fork-v1',
        log,
        smaller: await noteOf(smaller),
        larger: await noteOf(larger),
      };
      expect((await verifyFork({ ...file, proof: proof(differs) })).kind).toBe('leaves');
      const same = (differs + 1) % smaller.length;
      if (same === differs) return;
      await expect(verifyFork({ ...file, proof: proof(same) })).rejects.toMatchObject({
        code: 'log_fork_invalid',
      });
    }),
    { numRuns: 40 },
  );
});

test('no fork file can be made against an honest log', async () => {
  const growth = fc.record({
    small: fc.integer({ min: 1, max: 40 }),
    more: fc.integer({ min: 1, max: 60 }),
    random: fc.nat(),
    mutation: fc.constantFrom('none', 'flip', 'drop', 'add', 'swap', 'roots', 'index'),
  });
  await fc.assert(
    fc.asyncProperty(growth, async ({ small, more, random, mutation }) => {
      const leaves = leavesOf(Array.from({ length: small + more }, (_, index) => `leaf ${index}`));
      const path = subproof(leaves, small).map(toHex);
      const at = random % path.length;
      const flipped = (hex: string): string => `${hex[0] === '0' ? '1' : '0'}${hex.slice(1)}`;
      const paths: Record<string, readonly string[]> = {
        flip: path.map((hash, index) => (index === at ? flipped(hash) : hash)),
        drop: path.filter((_, index) => index !== at),
        add: [...path, path[0] ?? ''],
        swap: path.toReversed(),
      };
      const [smaller, larger] = [await noteOf(leaves.slice(0, small)), await noteOf(leaves)];
      const place = { leaf_hash: toHex(leaves[0] ?? new Uint8Array(32)), path };
      const proof =
        mutation === 'roots'
          ? { kind: 'roots' }
          : mutation === 'index'
            ? { kind: 'leaves', index: 0, in_smaller: place, in_larger: place }
            : { kind: 'subtrees', path: paths[mutation] ?? path };
      const file = { type: 'svc-log-fork-v1', log, smaller, larger, proof };
      if (mutation === 'swap' && path.join() === path.toReversed().join()) return;
      await expect(verifyFork(file)).rejects.toMatchObject({ code: 'log_fork_invalid' });
    }),
    { numRuns: 150 },
  );
});

test('checkpoints that the log did not sign prove nothing', async () => {
  const stranger = await createSigner(generateSecretKey());
  const [a, b] = [leavesOf(['a']), leavesOf(['b'])];
  const forged = await signCheckpoint({ origin: ORIGIN, size: 1, root: merkleRoot(b) }, stranger);
  await expect(forkOf({ log, notes: [await noteOf(a), forged] })).rejects.toMatchObject({
    code: 'checkpoint_signature_invalid',
  });
  const file = await forkOf({ log, notes: [await noteOf(a), await noteOf(b)] });
  await expect(verifyFork({ ...file, log: verifierKey(ORIGIN, stranger.publicKey) })).rejects.toMatchObject({
    code: 'checkpoint_signature_invalid',
  });
  await expect(verifyFork({ ...file, extra: 1 })).rejects.toMatchObject({ code: 'log_fork_invalid' });
});
