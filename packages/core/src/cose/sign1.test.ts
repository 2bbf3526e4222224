import { describe, expect, it } from 'vitest';
import { signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { openSignedStatement } from '../foreign/cose-receipt/statement.ts';
import { leafHash } from '../merkle/hash.ts';
import { parseCoseReceipt } from './receipt.ts';
import { encodeCbor, HEADER, parseSign1, signDetached } from './sign1.ts';

const signer = await signerOf(7);
const root = leafHash(utf8('entry'));

/** A receipt of a tree with one leaf, with these headers beside its own. */
function receiptWith(
  more: ReadonlyMap<unknown, unknown>,
  unprotected: ReadonlyMap<unknown, unknown> = new Map(),
) {
  const header = new Map<unknown, unknown>([
    [HEADER.alg, -8],
    [HEADER.kid, utf8(signer.keyId)],
    [HEADER.vds, 1],
    ...more,
  ]);
  const proofs = new Map([[-1, [encodeCbor([1, 0, []])]]]);
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
