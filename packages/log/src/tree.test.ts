import { leafHash, merkleRoot, toHex, verifyConsistency, verifyInclusion } from '@tallystick/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOf } from '../../server/test/log-fixture.ts';
import { changedPartials, edgeRoot, emptyEdge, growEdge, type RightEdge, readEdge } from './right-edge.ts';
import { TreeReader } from './tree-reader.ts';
import { tileWidth } from './tree-shape.ts';

const LEAVES = 70_000;
const hashes = Array.from({ length: LEAVES }, (_, index) => hashOf(index));
const entries = Buffer.concat(hashes);
const leafHashes = hashes.map((hash) => leafHash(hash));
const rootOf = (size: number) => merkleRoot(leafHashes.slice(0, size));

class Tiles {
  readonly stored = new Map<string, Uint8Array>();
  reads = 0;

  readonly getTile = async (level: number, index: number) => {
    this.reads += 1;
    return this.stored.get(`${level}/${index}`) ?? null;
  };

  /** Grows to `size`, as the integrator does. */
  grow(edge: RightEdge, size: number): RightEdge {
    const grown = growEdge(edge, entries.subarray(edge.size * 32, size * 32));
    for (const { level, index, hashes } of [...grown.full, ...changedPartials(edge.size, grown.edge)]) {
      this.stored.set(`${level}/${index}`, Uint8Array.from(hashes));
    }
    return grown.edge;
  }
}

function treeOf(...sizes: readonly number[]): Tiles {
  const tiles = new Tiles();
  sizes.reduce<RightEdge>((edge, size) => tiles.grow(edge, size), emptyEdge);
  return tiles;
}

const steps = fc
  .array(fc.oneof(fc.nat(3), fc.integer({ min: 250, max: 260 }), fc.nat(1500)), { maxLength: 8 })
  .map((growths) => growths.map((_, at) => growths.slice(0, at + 1).reduce((sum, one) => sum + one, 0)));

test('however it grows, a tree has the root of its leaves, also when its edge is read again', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sizes) => {
      const tiles = new Tiles();
      let edge: RightEdge = emptyEdge;
      for (const size of sizes) edge = tiles.grow(await readEdge(tiles, edge.size), size);
      expect(toHex(edgeRoot(edge))).toBe(toHex(rootOf(edge.size)));
      expect(await readEdge(tiles, edge.size)).toEqual(edge);
    }),
    { numRuns: 40 },
  );
});

test('a step writes exactly the tiles that it made or lengthened', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), (before, more) => {
      const tiles = treeOf(before);
      const earlier = new Map(tiles.stored);
      const { edge, full } = growEdge(
        growEdge(emptyEdge, entries.subarray(0, before * 32)).edge,
        entries.subarray(before * 32, (before + more) * 32),
      );
      const written = [...full, ...changedPartials(before, edge)];
      const whole = treeOf(before + more).stored;
      const changed = [...whole].filter(
        ([place, bytes]) => !Buffer.from(bytes).equals(earlier.get(place) ?? new Uint8Array(0)),
      );
      expect(written.map(({ level, index }) => `${level}/${index}`).sort()).toEqual(
        changed.map(([place]) => place).sort(),
      );
    }),
    { numRuns: 50 },
  );
});

test('the tiles of 70,000 leaves are those of the specification', () => {
  const { stored } = treeOf(40_000, LEAVES);
  const widths = (level: number) =>
    [...stored].filter(([place]) => place.startsWith(`${level}/`)).map(([, bytes]) => bytes.length / 32);
  expect(widths(0).filter((width) => width === 256)).toHaveLength(273);
  expect(widths(0).filter((width) => width < 256)).toEqual([112]);
  expect(widths(1)).toEqual([256, 17]);
  expect(widths(2)).toEqual([1]);
  for (const [place, bytes] of stored) {
    const [level = 0, index = 0] = place.split('/').map(Number);
    expect(bytes.length / 32).toBe(tileWidth(LEAVES, level, index));
  }
});

test('every proof holds, at every size, from one reader that outlives the growth', async () => {
  const tiles = new Tiles();
  const tree = new TreeReader(tiles.getTile, 20);
  let edge: RightEdge = emptyEdge;
  for (const total of [1, 255, 256, 257, 5000, 65_536, LEAVES]) {
    edge = tiles.grow(edge, total);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: total }), fc.nat(), async (size, random) => {
        const index = random % size;
        const root = rootOf(size);
        expect(toHex(await tree.root(size))).toBe(toHex(root));
        const path = await tree.inclusionProof(index, size);
        expect(verifyInclusion({ index, size, leafHash: leafHash(hashOf(index)), path, root })).toBe(true);
        const claim = { size1: index + 1, root1: rootOf(index + 1), size2: size, root2: root };
        expect(verifyConsistency({ ...claim, path: await tree.consistencyProof(index + 1, size) })).toBe(
          true,
        );
      }),
      { numRuns: 6 },
    );
  }
});

test('a tile is read once while it is remembered, and again when it has grown', async () => {
  const tiles = new Tiles();
  const tree = new TreeReader(tiles.getTile, 2);
  const edge = tiles.grow(emptyEdge, 100);
  await tree.inclusionProof(5, 100);
  await tree.inclusionProof(99, 100);
  expect(tiles.reads).toBe(1);
  tiles.grow(edge, 200);
  await tree.inclusionProof(5, 64);
  expect(tiles.reads).toBe(1);
  await tree.inclusionProof(5, 200);
  expect(tiles.reads).toBe(2);
});

test('the empty tree has the empty root, and a lacking tile is named', async () => {
  const tiles = treeOf(600);
  const tree = new TreeReader(tiles.getTile);
  expect(toHex(await tree.root(0))).toBe(toHex(rootOf(0)));
  tiles.stored.delete('0/1');
  await expect(tree.inclusionProof(300, 600)).rejects.toThrow(
    expect.objectContaining({ code: 'log_corrupted', message: expect.stringContaining('tile/0/001') }),
  );
  await expect(readEdge({ getTile: async () => null }, 600)).rejects.toThrow(
    expect.objectContaining({ code: 'log_corrupted' }),
  );
  await expect(tree.consistencyProof(0, 5)).rejects.toThrow(
    expect.objectContaining({ code: 'merkle_range' }),
  );
});
