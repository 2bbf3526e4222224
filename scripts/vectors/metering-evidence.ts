import {
  anchoredHash,
  type EvidenceCounts,
  type JsonObject,
  type JsonValue,
} from '../../packages/core/src/index.ts';
import { type Bill, leaf, leaves, signedBody } from './bill.ts';
import { casesOf, ISSUED_SECONDS, type ReceiptCase } from './cases.ts';
import { minted } from './envelope-base.ts';
import { signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signMetering } from './sign.ts';

const { accepts, refuses } = casesOf('metering');

/** Cases of the same receipt with right and wrong evidence. `good` bills 7 units, of which 1 to 5 have evidence. */
export async function evidenceCases(bill: Bill, good: JsonObject): Promise<ReceiptCase[]> {
  const allLeaves = leaves(5);
  const [first = leaf(1), second = leaf(2), ...rest] = allLeaves;
  const wrong = (name: string, comment: string, evidence: JsonValue[]): ReceiptCase =>
    refuses(name, comment, good, ['evidence'], { evidence, nulls: ['anchor'] });
  const scattered = [leaf(7), leaf(2), leaf(5)];
  const other = await signed({ ...bill, leaves: scattered });
  return [
    accepts('evidence', 'The leaves give the signed digest and count.', good, {
      evidence: allLeaves,
      nulls: ['anchor'],
    }),
    accepts('evidence in any order', 'Units need not be sorted: the order supplied counts.', other, {
      evidence: scattered,
    }),
    wrong('evidence in another order', 'The digest depends on the order.', [second, first, ...rest]),
    wrong('evidence of one leaf less', 'The count and the digest disagree.', allLeaves.slice(1)),
    wrong('evidence of one leaf more', 'The count and the digest disagree.', [...allLeaves, leaf(6)]),
    wrong('no leaves', 'An empty list is evidence of nothing.', []),
    wrong('another receipt', 'The leaf of unit 1 names another receipt.', [
      { ...first, receipt_sha256: '0'.repeat(64) },
      second,
      ...rest,
    ]),
    wrong('leaf with another member', 'Leaves are closed.', [{ ...first, note: 'x' }, second, ...rest]),
    wrong('leaf that is no object', 'A leaf is an object.', ['1', second, ...rest]),
    wrong('unit as text', 'A unit is an integer.', [{ ...first, unit: '1' }, second, ...rest]),
    ...(await dishonest(bill)),
    ...(await wholeReceipts()),
  ];
}

const counts = (
  verified: number,
  hashed: number,
  trusted: number,
  issued_in_window: number,
): EvidenceCounts => ({
  verified,
  logged: 0,
  hashed,
  trusted,
  issued_in_window,
});

/** Cases with whole receipts as evidence, in place of their hashes. */
async function wholeReceipts(): Promise<ReceiptCase[]> {
  const inWindow = { issuedAt: Date.parse('2026-01-14T11:00:00Z') };
  const [standard, nano, late] = await Promise.all([
    emitted('standard', {}, inWindow),
    emitted('nano', {}, inWindow),
    emitted('pq'),
  ]);
  const { stranger } = signers;
  const strange = await minted({}, { issuerDid: stranger.keyId, issuerVerified: false }, stranger);
  const receipts = [standard, nano, late, strange];
  const hashes = receipts.map((receipt, index) => ({
    unit: index + 1,
    receipt_sha256: anchoredHash(receipt),
  }));
  const items = receipts.map((receipt, index) => ({ unit: index + 1, receipt }));
  const metered = await signed({ billed: 7, leaves: [...hashes, leaf(5)] });
  const nulls = ['anchor'];
  const wrong = (name: string, comment: string, item: JsonValue): ReceiptCase =>
    refuses(name, comment, metered, ['evidence'], { evidence: [item, ...hashes.slice(1), leaf(5)], nulls });
  return [
    accepts('whole receipts as evidence', 'Each is verified; its leaf is its anchored hash.', metered, {
      evidence: [...items, leaf(5)],
      nulls,
      counts: counts(4, 1, 3, 2),
    }),
    accepts('whole receipts, nobody known', 'Verified, and not trusted.', metered, {
      evidence: [...items, leaf(5)],
      trust: 'empty',
      trusted: false,
      counts: counts(4, 1, 0, 2),
    }),
    accepts('the hashes of the same receipts', 'The same leaves, of which less is known.', metered, {
      evidence: [...hashes, leaf(5)],
      nulls,
      counts: counts(0, 5, 0, 0),
    }),
    accepts('whole receipts and hashes', 'Each leaf counts once.', metered, {
      evidence: [...items.slice(0, 2), ...hashes.slice(2), leaf(5)],
      nulls,
      counts: counts(2, 3, 2, 2),
    }),
    wrong('whole receipt that was changed', 'Its signature does not hold.', {
      unit: 1,
      receipt: { ...standard, purpose: 'another' },
    }),
    wrong('whole receipt that contradicts its issuer', 'A stranger signed in the name of the service.', {
      unit: 1,
      receipt: await emitted('standard', {}, inWindow, stranger),
    }),
    wrong('whole receipt of no family', 'It is no receipt.', { unit: 1, receipt: { note: 1 } }),
    wrong('whole receipt and its hash', 'One of the two.', { ...items[0], ...hashes[0] }),
    wrong('whole receipt with another member', 'Items are closed.', { ...items[0], note: 'x' }),
    wrong('whole receipt of another unit’s', 'A receipt backs one unit.', { unit: 1, receipt: nano }),
    wrong('anchor that is none', 'What is given with a hash must hold.', { ...hashes[0], anchor: {} }),
  ];
}

/** Cases in which the issuer signed digest and count of leaves that may not back a unit. */
async function dishonest(bill: Bill): Promise<ReceiptCase[]> {
  const list: readonly (readonly [string, string, JsonObject[]])[] = [
    ['unit twice', 'A unit may be backed once.', [leaf(1), { ...leaf(2), unit: 1 }]],
    ['receipt twice', 'A receipt may back once.', [leaf(1), { ...leaf(1), unit: 2 }]],
    ['unit 0', 'Units start at 1.', [leaf(0)]],
    ['unit past the billed ones', 'Units end at billed_unit_count.', [leaf(8)]],
    ['unit with a fraction', 'A unit is an integer.', [{ ...leaf(1), unit: 1.5 }]],
    ['hash in upper case', 'Hex is lower case.', [{ unit: 1, receipt_sha256: 'A'.repeat(64) }]],
  ];
  const overcounted = await signed({ ...bill, leaves: leaves(5), backed: 6 });
  const cases = await Promise.all(
    list.map(async ([name, comment, evidence]) =>
      refuses(`signed: ${name}`, comment, await signed({ ...bill, leaves: evidence }), ['evidence'], {
        evidence,
      }),
    ),
  );
  return [
    ...cases,
    refuses(
      'signed: count past the leaves',
      'The digest is of 5 leaves, the count says 6.',
      overcounted,
      ['evidence'],
      {
        evidence: leaves(5),
      },
    ),
    refuses(
      'signed: nothing billed, and a leaf',
      'There is no unit that it could back.',
      await signed({ ...bill, billed: 0, leaves: [] }),
      ['evidence'],
      { evidence: [leaf(1)] },
    ),
  ];
}

const signed = (bill: Bill): Promise<JsonObject> =>
  signMetering(signedBody(bill), ISSUED_SECONDS, signers.service);
