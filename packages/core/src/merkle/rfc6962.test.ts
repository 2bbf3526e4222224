import { describe, expect, test } from 'vitest';
import { haveSharedVectors, readSharedText } from '../../test/shared-vectors.ts';
import { verifyConsistency } from './consistency.ts';
import { verifyInclusion } from './inclusion.ts';

interface Common {
  name: string;
  wantErr: boolean;
  proof: string[] | null;
}
interface Inclusion extends Common {
  leafIdx: number;
  treeSize: number;
  root: string;
  leafHash: string;
}
interface Consistency extends Common {
  size1: number;
  size2: number;
  root1: string;
  root2: string;
}

function load<T>(file: string): T[] {
  return haveSharedVectors ? (JSON.parse(readSharedText(`rfc6962/${file}`)) as T[]) : [];
}
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));

describe.skipIf(!haveSharedVectors)('transparency-dev/merkle vectors', () => {
  const inclusion = load<Inclusion>('inclusion.json');
  const consistency = load<Consistency>('consistency.json');

  test('there are 98 of each', () => {
    expect([inclusion.length, consistency.length]).toEqual([98, 98]);
  });

  test.each(inclusion)('$name', ({ leafIdx, treeSize, leafHash, root, proof, wantErr }) => {
    const path = (proof ?? []).map(bytes);
    const claim = { index: leafIdx, size: treeSize, leafHash: bytes(leafHash), path, root: bytes(root) };
    expect(verifyInclusion(claim)).toBe(!wantErr);
  });

  test.each(consistency)('$name', ({ size1, size2, root1, root2, proof, wantErr }) => {
    const path = (proof ?? []).map(bytes);
    const claim = { size1, size2, root1: bytes(root1), root2: bytes(root2), path };
    expect(verifyConsistency(claim)).toBe(!wantErr);
  });
});
