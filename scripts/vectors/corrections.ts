import {
  type CorrectedState,
  type Correction,
  correctionOf,
  type JsonObject,
  type JsonValue,
  nameOf,
} from '../../packages/core/src/index.ts';
import { leaves } from './bill.ts';
import { ISSUED_MS, ISSUED_SECONDS, NOW } from './cases.ts';
import { withMember } from './change.ts';
import { facts, minted } from './envelope-base.ts';
import { signers } from './keys.ts';
import { receipt as bill } from './metering.ts';
import { NAMED_KEY_ID, type StoreName } from './stores.ts';

/** Receipts that are given together, and what a verifier finds of the corrections among them (spec/corrections.md). */
export interface CorrectionCase {
  readonly name: string;
  readonly comment: string;
  readonly documents: readonly JsonValue[];
  readonly trust: StoreName;
  readonly now: string;
  /** One for each envelope that links two receipts, in their order. */
  readonly expected: readonly {
    readonly receipt_id: string;
    readonly valid: boolean;
    readonly trusted: boolean;
    readonly corrects: CorrectedState;
    readonly correction: CorrectedState;
    /** How many things are wrong. */
    readonly faults: number;
  }[];
}

const LINK_FACTS = {
  ...facts,
  request: { hash: null, origin: null, purpose: 'correction', policy_hash: null },
  response: { hash: null, sealed: null },
};

const idOf = (last: string): string => `r_env_${ISSUED_SECONDS}_${last.padStart(12, '0')}`;

const envelope = (last: string, signer = signers.service): Promise<JsonObject> =>
  minted({ request: { ...facts.request, purpose: `purpose ${last}` } }, { receiptId: idOf(last) }, signer);

/** An envelope that says that the second receipt corrects the first. */
function link(
  last: string,
  [corrects, correction]: readonly [JsonObject, JsonObject],
  signer = signers.service,
): Promise<JsonObject> {
  const call = correctionOf({ corrects, correction }, 'The count was wrong.');
  return minted({ ...LINK_FACTS, call }, { receiptId: idOf(last), issuedAt: ISSUED_MS + 1_000 }, signer);
}

const GOOD = { valid: true, trusted: true, corrects: 'valid', correction: 'valid', faults: 0 } as const;

/** Cases of receipts that correct others. */
export async function correctionCases(): Promise<CorrectionCase[]> {
  const [first, second, third] = [await envelope('a'), await envelope('b'), await envelope('c')];
  const [bills0, bills1] = [
    await bill({ billed: 3, leaves: leaves(3) }),
    await bill({ billed: 2, leaves: leaves(2) }),
  ];
  const forward = await link('1', [first, second]);
  const other = await link('2', [first, third]);
  const back = await link('3', [second, first]);
  const next = await link('4', [second, third]);
  const strange = await link('5', [first, second], signers.stranger);
  const rotated = await link('6', [first, second], { ...signers.named, keyId: NAMED_KEY_ID });
  const metered = await link('7', [bills0, bills1]);
  const call = correctionOf({ corrects: first, correction: third }, 'The count was wrong.');
  const masked = await minted(
    { ...LINK_FACTS, call },
    {
      receiptId: idOf('9'),
      issuedAt: ISSUED_MS + 1_000,
      issuerDid: 'did:svc:nobody-knows',
      issuerVerified: false,
    },
    signers.service,
  );
  const unknown: object = { note: 'x', state: 'x' };
  const noted = await minted(
    {
      ...LINK_FACTS,
      call: {
        kind: 'correction',
        corrects: { ...nameOf(first), ...unknown },
        correction: { ...nameOf(second), ...unknown },
        reason: null,
      },
    },
    { receiptId: idOf('1'), issuedAt: ISSUED_MS + 1_000 },
    signers.service,
  );
  const one = (last: string, changes: object = {}) => ({ receipt_id: idOf(last), ...GOOD, ...changes });
  const at = (
    name: string,
    comment: string,
    documents: readonly JsonValue[],
    expected: CorrectionCase['expected'],
    trust: StoreName = 'known',
  ): CorrectionCase => ({ name, comment, documents, trust, now: NOW, expected });
  const bad = { valid: false, trusted: false };
  return [
    at('none', 'Receipts alone correct nothing.', [first, second], []),
    at('an envelope', 'Both are given, and stay valid.', [first, second, forward], [one('1')]),
    at(
      'with members that nobody knows',
      'The verdict says of both receipts what it always says, and no more.',
      [first, second, noted],
      [one('1')],
    ),
    at('in another order', 'The order does not matter.', [forward, second, first], [one('1')]),
    at(
      'a bill',
      'The link stands outside of the closed metering receipt.',
      [bills0, bills1, metered],
      [one('7')],
    ),
    at('a chain', 'A correction is corrected.', [first, second, third, forward, next], [one('1'), one('4')]),
    at(
      'without the correction',
      'What is not given is said to be so.',
      [first, forward],
      [one('1', { correction: 'not_given' })],
    ),
    at(
      'the link alone',
      'It is valid; both receipts are missing.',
      [forward],
      [one('1', { corrects: 'not_given', correction: 'not_given' })],
    ),
    at(
      'without trust',
      'One key signed all three.',
      [first, second, forward],
      [one('1', { trusted: false })],
      'empty',
    ),
    at(
      'after a rotation',
      'Another key of the same issuer signed the link.',
      [first, second, rotated],
      [one('6')],
    ),
    at(
      'after a rotation, without trust',
      'Nothing shows that the keys are of one issuer.',
      [first, second, rotated],
      [one('6', { ...bad, corrects: 'other_signer', correction: 'other_signer', faults: 3 })],
      'empty',
    ),
    at(
      'by a stranger',
      'Somebody else links receipts that are not his.',
      [first, second, strange],
      [one('5', { ...bad, corrects: 'other_signer', correction: 'other_signer', faults: 3 })],
    ),
    at(
      'by a stranger, beside the issuer’s',
      'It does not disturb the issuer’s own.',
      [first, second, strange, forward],
      [one('5', { ...bad, corrects: 'other_signer', correction: 'other_signer', faults: 3 }), one('1')],
    ),
    at(
      'two for one receipt',
      'Both are at fault: the issuer says two things.',
      [first, second, third, forward, other],
      [one('1', { ...bad, faults: 1 }), one('2', { ...bad, faults: 1 })],
    ),
    at(
      'two for one receipt, one of them under another DID',
      'One key signed both, so they are of one issuer whatever it calls itself.',
      [first, second, third, forward, masked],
      [one('1', { ...bad, faults: 1 }), one('9', { ...bad, faults: 1 })],
    ),
    at(
      'two for one receipt, by way of a third link',
      'The third shows that the key of the one is of the issuer of the other.',
      [first, second, third, masked, rotated, next],
      [one('9', { ...bad, faults: 1 }), one('6', { ...bad, faults: 1 }), one('4')],
    ),
    at(
      'in a circle',
      'Each would correct the other.',
      [first, second, forward, back],
      [one('1', { ...bad, faults: 1 }), one('3', { ...bad, faults: 1 })],
    ),
    ...[
      { order: 'before', links: [forward, back, next], expected: ['1', '3', '4'] },
      { order: 'after', links: [forward, next, back], expected: ['1', '4', '3'] },
    ].map(({ order, links, expected }) =>
      at(
        `in a circle, ${order} another link`,
        'The link that closes the circle contradicts a third one as well: the order does not matter.',
        [first, second, third, ...links],
        expected.map((last) => one(last, { ...bad, faults: last === '3' ? 2 : 1 })),
      ),
    ),
    at(
      'another receipt under the id',
      'The hash decides, not the id.',
      [await minted({}, { receiptId: idOf('a') }), second, forward],
      [one('1', { ...bad, corrects: 'contradicts', faults: 1 })],
    ),
    at(
      'of a link',
      'What links two receipts is none that can be corrected.',
      [
        first,
        second,
        third,
        forward,
        await minted(
          {
            ...LINK_FACTS,
            call: { kind: 'correction', corrects: nameOf(forward), correction: nameOf(third), reason: null },
          },
          { receiptId: idOf('10'), issuedAt: ISSUED_MS + 1_000 },
        ),
      ],
      [one('1'), one('10', { ...bad, corrects: 'contradicts', faults: 1 })],
    ),
    at(
      'an altered link',
      'It names the receipts in exchange.',
      [first, second, withMember(forward, 'call', { ...(back['call'] as JsonObject) })],
      [one('1', { ...bad, faults: 1 })],
    ),
    at(
      'an altered first receipt',
      'Its anchored hash is another.',
      [withMember(first, 'request.purpose', 'another'), second, forward],
      [one('1', { corrects: 'not_given' })],
    ),
    ...(await Promise.all(
      [
        {
          name: 'of another purpose',
          comment: 'A link is an envelope of the purpose correction.',
          changes: { request: { ...LINK_FACTS.request, purpose: 'inference' } },
        },
        {
          name: 'with the hash of a request',
          comment: 'A link is about nothing else.',
          changes: { request: { ...LINK_FACTS.request, hash: facts.request.hash } },
        },
        {
          name: 'with the hash of an answer',
          comment: 'A link is about nothing else.',
          changes: { response: facts.response },
        },
      ].map(async ({ name, comment, changes }) =>
        at(
          name,
          comment,
          [
            first,
            second,
            await minted(
              { ...LINK_FACTS, ...changes, call: forward['call'] as Correction },
              { receiptId: idOf('11'), issuedAt: ISSUED_MS + 1_000 },
            ),
          ],
          [one('11', { ...bad, faults: 1 })],
        ),
      ),
    )),
    ...(await Promise.all(
      [
        { name: 'an envelope by a bill', ends: [first, bills0] as const },
        { name: 'a bill by an envelope', ends: [bills0, first] as const },
      ].map(async ({ name, ends: [corrects, correction] }) =>
        at(
          name,
          'A receipt is corrected by one of its family.',
          [
            first,
            bills0,
            await minted(
              {
                ...LINK_FACTS,
                call: {
                  kind: 'correction',
                  corrects: nameOf(corrects),
                  correction: nameOf(correction),
                  reason: null,
                },
              },
              { receiptId: idOf('12'), issuedAt: ISSUED_MS + 1_000 },
            ),
          ],
          [one('12', { ...bad, faults: 1 })],
        ),
      ),
    )),
    at(
      'of another shape',
      'A call that says less links nothing.',
      [
        first,
        second,
        await minted({ ...LINK_FACTS, call: { kind: 'correction' } as never }, { receiptId: idOf('8') }),
      ],
      [],
    ),
  ];
}
