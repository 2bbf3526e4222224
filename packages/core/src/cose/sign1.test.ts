import { describe, expect, it } from 'vitest';
import { signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { openSignedStatement } from '../foreign/cose-receipt/statement.ts';
import { leafHash } from '../merkle/hash.ts';
import { parseCoseReceipt } from './receipt.ts';
import { ALGORITHMS, encodeCbor, HEADER, parseSign1, signDetached } from './sign1.ts';

const signer = await signerOf(7);
const root = leafHash(utf8('entry'));

/** A receipt of a tree with one leaf, with these headers beside its own, or with another proof. */
function receiptWith(
  more: ReadonlyMap<unknown, unknown>,
  unprotected: ReadonlyMap<unknown, unknown> = new Map(),
  proofs: ReadonlyMap<unknown, unknown> = new Map([[-1, [encodeCbor([1, 0, []])]]]),
) {
  const header = new Map<unknown, unknown>([
    [HEADER.alg, -8],
    [HEADER.kid, utf8(signer.keyId)],
    [HEADER.vds, 1],
    ...more,
  ]);
  return signDetached(
    header,
    new Map<unknown, unknown>([[HEADER.vdp, proofs], ...unprotected]),
    root,
    signer,
  );
}

describe('headers that are critical', () => {
  it.each([
    ['none', undefined],
    ['one that is known', [HEADER.vds]],
    ['several that are known', [HEADER.alg, HEADER.kid, HEADER.claims]],
  ])('%s: it is read', async (_, labels) => {
    const bytes = await receiptWith(new Map(labels === undefined ? [] : [[HEADER.crit, labels]]));
    expect(parseCoseReceipt(bytes)).toMatchObject({ index: 0, size: 1 });
  });

  it.each([
    ['one that is not known', [-70_001]],
    ['one that is named by a text', ['expires']],
    ['one of two that is not known', [HEADER.vds, 500]],
    ['none, though it says so', []],
    ['no list', 1],
  ])('%s: it is refused', async (_, labels) => {
    const bytes = await receiptWith(new Map([[HEADER.crit, labels]]));
    expect(() => parseCoseReceipt(bytes)).toThrow(expect.objectContaining({ code: 'cose_invalid' }));
  });

  it('outside of what is signed: it is refused', async () => {
    const bytes = await receiptWith(new Map(), new Map([[HEADER.crit, [HEADER.vds]]]));
    expect(() => parseSign1(bytes)).toThrow(/crit/);
  });

  it('of a statement that nobody here understands: it is not registered', async () => {
    const statement = await receiptWith(new Map([[HEADER.crit, [500]]]));
    await expect(openSignedStatement(statement, async () => undefined)).rejects.toMatchObject({
      code: 'cose_invalid',
    });
  });
});

/** The bytes with floats in place of others: `1.0` of `1.5`, and so on. The encoder writes a whole number as an integer only. */
function withWholeFloats(bytes: Uint8Array): Uint8Array {
  const whole = { f93e00: 'f93c00', f93800: 'f90000', f9be00: 'f9bc00', f9c840: 'f9c800' };
  const hex = toHex(bytes).replace(
    /f93e00|f93800|f9be00|f9c840/g,
    (half) => whole[half as keyof typeof whole],
  );
  expect(hex).not.toBe(toHex(bytes));
  return fromHex(hex);
}

describe('a float that is a whole number is no integer', () => {
  const proofOf = (...proof: readonly unknown[]) => new Map([[-1, [encodeCbor(proof)]]]);
  it.each([
    ['as the size of the tree', new Map(), proofOf(1.5, 0, [])],
    ['as the index of the leaf', new Map(), proofOf(1, 0.5, [])],
    ['as the kind of tree', new Map([[HEADER.vds, 1.5]]), proofOf(1, 0, [])],
    ['as the name of a header', new Map([[1.5, -8]]), proofOf(1, 0, [])],
    ['as the kind of proof', new Map(), new Map([[-1.5, [encodeCbor([1, 0, []])]]])],
    ['as a header that is critical', new Map([[HEADER.crit, [1.5]]]), proofOf(1, 0, [])],
  ])('%s', async (_, headers, proofs) => {
    const bytes = withWholeFloats(await receiptWith(headers, new Map(), proofs));
    expect(() => parseCoseReceipt(bytes)).toThrow(expect.objectContaining({ code: 'cose_invalid' }));
  });

  it('as the algorithm', async () => {
    const bytes = withWholeFloats(await receiptWith(new Map([[HEADER.alg, -8.5]])));
    expect(ALGORITHMS.get(parseSign1(bytes).protectedHeader.get(HEADER.alg))).toBeUndefined();
  });

  it('and says nothing against a receipt where nobody reads it', async () => {
    const bytes = withWholeFloats(await receiptWith(new Map([[HEADER.claims, new Map([[6, 1.5]])]])));
    expect(parseCoseReceipt(bytes)).toMatchObject({ index: 0, size: 1 });
  });
});
