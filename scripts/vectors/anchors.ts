import {
  type AnchorAuthority,
  anchoredHash,
  cosignCheckpoint,
  type FamilyName,
  fromHex,
  type JsonObject,
  leafHash,
  rootFromInclusion,
  sha256,
  signCheckpoint,
  utf8,
  withSignature,
} from '../../packages/core/src/index.ts';
import { type AnchorCase, anchored, anchorOf, authority, ORIGIN, specifiedOnly } from './anchor-base.ts';
import { datedCases } from './anchors-dated.ts';
import { earlierCases } from './anchors-earlier.ts';
import { forgedAnchorCases } from './anchors-forged.ts';
import { leaves, signedBody } from './bill.ts';
import { type CaseOptions, casesOf, ISSUED_SECONDS } from './cases.ts';
import { textAt, withMember } from './change.ts';
import { minted } from './envelope-base.ts';
import { signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signature, signMetering } from './sign.ts';

/** The members of a case about the anchor, besides those about the receipt. */
type AnchorGiven = Omit<AnchorCase, keyof ReturnType<ReturnType<typeof casesOf>['accepts']>>;

const UNCHECKED = ['anchor_checkpoint', 'anchor_transaction'];

/** Cases of a receipt and its anchor: the checks anchor, anchor_checkpoint and anchor_transaction. */
export async function anchorCases(): Promise<AnchorCase[]> {
  const receipt = await emitted('standard');
  return [
    ...(await provedCases(receipt)),
    ...(await partlyProvedCases(receipt)),
    ...(await unknownLogCases(receipt)),
    ...(await carriedCases(receipt)),
    ...(await placeCases(receipt)),
    ...(await earlierCases(receipt)),
    ...(await familyCases()),
    ...(await datedCases()),
    ...(await forgedAnchorCases(receipt)),
  ];
}

/** A valid case of a family. */
function provedIn(
  family: FamilyName,
  name: string,
  comment: string,
  document: JsonObject,
  given: AnchorGiven,
  options: CaseOptions = { nulls: [] },
): AnchorCase {
  return { ...casesOf(family).accepts(name, comment, document, options), authority, ...given };
}

async function provedCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const { anchor, transaction } = await anchorOf(receipt);
  const proved = (name: string, comment: string, given: AnchorGiven, nulls: string[] = []): AnchorCase =>
    provedIn('profile', name, comment, receipt, { anchor, transaction, ...given }, { nulls });
  const note = textAt(anchor, 'checkpoint');
  const cosigned = withSignature(
    note,
    await cosignCheckpoint(note, { name: 'witness.example/w1', signer: signers.stranger }, 1_768_476_600),
  );
  return [
    proved('checkpoint and transaction', 'All that there is to check.', {}),
    proved(
      'the specified members with the transaction',
      'The index is in short_id, the tree size in the calldata.',
      { anchor: specifiedOnly(anchor) },
      ['anchor_checkpoint'],
    ),
    proved('cosigned checkpoint', 'A signature of an unknown key is passed over.', {
      anchor: { ...anchor, checkpoint: cosigned },
    }),
    proved('unknown member', 'The format only adds members.', { anchor: { ...anchor, x_note: 1 } }),
    proved('address of the sender with its checksum', 'Addresses are compared without regard to case.', {
      transaction: { ...transaction, from: authority.chain?.address ?? '' },
    }),
    proved('size from the checkpoint', 'tree_size and leaf_index may be absent.', {
      anchor: { ...specifiedOnly(anchor), checkpoint: note },
    }),
  ];
}

async function partlyProvedCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const { anchor, transaction } = await anchorOf(receipt);
  const partly = (name: string, comment: string, given: AnchorGiven, nulls: readonly string[]): AnchorCase =>
    provedIn('profile', name, comment, receipt, { anchor, ...given }, { nulls });
  const { checkpoint: _checkpoint, ...withoutCheckpoint } = anchor;
  const knowing = (changes: Partial<AnchorAuthority>): AnchorGiven => ({
    authority: { ...authority, ...changes },
    transaction,
  });
  return [
    partly('offline', 'verified_at is signed by nobody: when it existed is not proved.', {}, [
      'anchor_transaction',
    ]),
    partly(
      'offline, no checkpoint',
      'The path leads to a root that nobody signed.',
      { anchor: withoutCheckpoint },
      UNCHECKED,
    ),
    partly(
      'offline, the specified members alone',
      'Without the tree size there is no path to check.',
      { anchor: specifiedOnly(anchor) },
      ['anchor', ...UNCHECKED],
    ),
    partly(
      'no log known',
      'The path holds; who made the tree is not known.',
      knowing({ log: null, chain: null }),
      UNCHECKED,
    ),
    partly('log known, chain not', 'Nobody says which account posts.', knowing({ chain: null }), [
      'anchor_transaction',
    ]),
    partly(
      'chain known, log not',
      'The account posts for a log that is not known.',
      knowing({ log: null }),
      UNCHECKED,
    ),
  ];
}

/** Cases of a log that the verifier does not know, whose anchors prove nothing and contradict nothing. */
async function unknownLogCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const origin = 'other.example/log';
  const { anchor, transaction } = await anchorOf(receipt, { origin, log: signers.stranger });
  const unknown = (name: string, comment: string, given: AnchorGiven): AnchorCase =>
    provedIn('profile', name, comment, receipt, { anchor, ...given }, { nulls: UNCHECKED });
  const sameKey = await anchorOf(receipt, { origin });
  return [
    unknown('a log that is not known', 'A good proof, signed and posted for another log.', { transaction }),
    unknown('a log that is not known, offline', 'A good proof, signed by another log.', {}),
    unknown('the specified members of a log that is not known', 'The calldata name the log.', {
      anchor: specifiedOnly(anchor),
      transaction,
    }),
    unknown('a log that is not known, with a key that is', 'A log is told by its origin.', sameKey),
    unknown('a log that is not known, posted by another account', 'Its own account is not known either.', {
      transaction: { ...transaction, from: `0x${'11'.repeat(20)}` },
    }),
  ];
}

/** Cases of an anchor in the receipt itself: it is a hint, which counts only as far as it is proved. */
async function carriedCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const { anchor, transaction } = await anchorOf(receipt);
  const pending = {
    anchor_ref: 'urn:anchor:pending:2026-01-15T12:00Z:3',
    batch_id: '2026-01-15T12:00Z',
    eta_seconds: 1800,
  };
  const carried = (
    name: string,
    comment: string,
    members: JsonObject,
    given: AnchorGiven,
    nulls: readonly string[],
  ): AnchorCase => provedIn('profile', name, comment, { ...receipt, ...members }, given, { nulls });
  return [
    carried(
      'carried',
      'The member anchor is looked at where no anchor is given.',
      { anchor },
      { transaction },
      [],
    ),
    carried('carried, offline', 'The transaction is missing.', { anchor }, {}, ['anchor_transaction']),
    carried(
      'given and carried',
      'What is given counts.',
      { anchor: { ...anchor, merkle_path: [] } },
      { anchor, transaction },
      [],
    ),
    carried('given pending, carried anchored', 'What is given counts.', { anchor }, { anchor: pending }, [
      'anchor',
    ]),
    carried(
      'carried, not readable',
      'Anybody may have put it there: nothing is proved or contradicted.',
      { anchor: { path: [] } },
      {},
      ['anchor'],
    ),
    carried('pending', 'A pending result proves nothing yet.', {}, { anchor: pending }, ['anchor']),
    carried('carried pending', 'Nor does one that is carried.', { anchor: pending }, {}, ['anchor']),
    carried(
      'anchor_ref, pending',
      'A reference is no proof.',
      { anchor_ref: pending.anchor_ref, tier: 'pro' },
      {},
      ['anchor'],
    ),
    carried(
      'anchor_ref, anchored',
      'A reference is no proof.',
      { anchor_ref: textAt(anchor, 'anchor_ref') },
      { transaction },
      ['anchor'],
    ),
  ];
}

/** Cases of leaves at different indexes of their tree. */
async function placeCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const places = [
    [0, 1],
    [0, 2],
    [1, 2],
    [6, 7],
    [0, 8],
    [255, 256],
    [256, 257],
  ] as const;
  const cases = places.map(async ([index, size]) =>
    provedIn(
      'profile',
      `leaf ${index} of ${size}`,
      'Its place decides the path.',
      receipt,
      await anchorOf(receipt, { index, size }),
    ),
  );
  return [...(await Promise.all(cases)), await lastPlaceCase(receipt)];
}

/** Case of the last leaf of the largest tree; its siblings are made up. */
async function lastPlaceCase(receipt: JsonObject): Promise<AnchorCase> {
  const size = Number.MAX_SAFE_INTEGER;
  const path = Array.from({ length: 52 }, (_, level) => sha256(utf8(`sibling ${level}`)));
  const leaf = leafHash(fromHex(anchoredHash(receipt), 32));
  const head = { origin: ORIGIN, size, root: rootFromInclusion(size - 1, size, leaf, path) };
  const note = await signCheckpoint(head, signers.log);
  const anchor = anchored(size - 1, path, head, note, '2026-01-15T11:30:00Z');
  return provedIn(
    'profile',
    `leaf ${size - 1} of ${size}`,
    'The largest tree: 2^53-1 leaves.',
    receipt,
    anchor,
  );
}

async function familyCases(): Promise<AnchorCase[]> {
  const nano = await emitted('nano');
  const envelope = await minted();
  const { signatures: _signatures, ...body } = envelope;
  const countersigned = withMember(envelope, 'signatures.requester', await signature(body, signers.agent));
  const bill = await signMetering(
    signedBody({ billed: 1, leaves: leaves(1) }),
    ISSUED_SECONDS,
    signers.service,
  );
  const unsigned = { nulls: ['signature_requester', 'signature_operator'] };
  return [
    provedIn('profile', 'nano', 'It has no member for an anchor: it is given.', nano, await anchorOf(nano)),
    provedIn(
      'envelope',
      'envelope',
      'Anchored with the service’s signature.',
      envelope,
      await anchorOf(envelope),
      unsigned,
    ),
    provedIn(
      'envelope',
      'envelope, counter-signed later',
      'What was anchored has no counter-signatures.',
      countersigned,
      await anchorOf(envelope),
      { nulls: ['signature_operator'] },
    ),
    provedIn('metering', 'metering', 'The whole receipt is anchored.', bill, await anchorOf(bill), {
      nulls: ['evidence'],
    }),
  ];
}
