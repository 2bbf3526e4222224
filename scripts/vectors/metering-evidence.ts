import type { JsonObject, JsonValue } from '../../packages/core/src/index.ts';
import { type Bill, leaf, leaves, signedBody } from './bill.ts';
import { casesOf, ISSUED_SECONDS, type ReceiptCase } from './cases.ts';
import { signers } from './keys.ts';
import { signMetering } from './sign.ts';

const { accepts, refuses } = casesOf('metering');

/** The same receipt with right and wrong evidence. `good` bills 7 units, of which 1 to 5 are backed. */
export async function evidenceCases(bill: Bill, good: JsonObject): Promise<ReceiptCase[]> {
  const given = leaves(5);
  const [first = leaf(1), second = leaf(2), ...rest] = given;
  const wrong = (name: string, comment: string, evidence: JsonValue[]): ReceiptCase =>
    refuses(name, comment, good, ['evidence'], { evidence, nulls: ['anchor'] });
  const scattered = [leaf(7), leaf(2), leaf(5)];
  const other = await signed({ ...bill, leaves: scattered });
  return [
    accepts('evidence', 'The leaves give the signed digest and count.', good, {
      evidence: given,
      nulls: ['anchor'],
    }),
    accepts('evidence in any order', 'Units need not be sorted: the order supplied counts.', other, {
      evidence: scattered,
    }),
    wrong('evidence in another order', 'The digest depends on the order.', [second, first, ...rest]),
    wrong('evidence of one leaf less', 'The count and the digest disagree.', given.slice(1)),
    wrong('evidence of one leaf more', 'The count and the digest disagree.', [...given, leaf(6)]),
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
  ];
}

/** Leaves that the issuer signed, digest and count included, though they may not back. */
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
  ];
}

const signed = (bill: Bill): Promise<JsonObject> =>
  signMetering(signedBody(bill), ISSUED_SECONDS, signers.service);
