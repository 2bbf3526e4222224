import { anchoredHash, type EvidenceCounts, type JsonObject } from '../../packages/core/src/index.ts';
import { type AnchorCase, anchorOf, authority } from './anchor-base.ts';
import { signedBody } from './bill.ts';
import { casesOf, ISSUED_SECONDS } from './cases.ts';
import { earlyBill } from './issuers.ts';
import { type KeyName, signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signMetering } from './sign.ts';
import { ENDED_AT, VALID_FROM } from './stores.ts';

const { accepts, refuses } = casesOf('profile');
const END = Date.parse(ENDED_AT);
const SECOND = 1000;

/** A receipt signed by the key at `issuedAt`, in Unix milliseconds. */
const by = (name: KeyName, issuedAt: number): Promise<JsonObject> =>
  emitted('standard', {}, { issuedAt }, signers[name]);

/** The case with an anchor in a block of the given time. */
async function inBlock(at: string, judged: ReturnType<typeof accepts>): Promise<AnchorCase> {
  return { ...judged, authority, ...(await anchorOf(judged.document as JsonObject, { at })) };
}

/** Cases in which the time of a block changes the verdict: only for receipts signed by a compromised key. */
export async function datedCases(): Promise<AnchorCase[]> {
  const good = await emitted('standard');
  return [
    ...(await endedCases()),
    ...(await compromisedCases()),
    ...(await earlyBillCases()),
    ...(await loggedEvidence()),
    await inBlock(
      '2026-01-15T10:55:00Z',
      accepts('block 300 s before it was issued', 'Within the tolerance.', good, { nulls: [] }),
    ),
    await inBlock(
      '2026-01-15T10:54:59Z',
      refuses('block 301 s before it was issued', 'It can’t have existed then.', good, [
        'anchor_transaction',
      ]),
    ),
  ];
}

/** Cases of early bills: the start of a key bounds when a bill was signed, as an anchor shows, not when it was compiled. */
async function earlyBillCases(): Promise<AnchorCase[]> {
  const metering = casesOf('metering');
  const bill = await earlyBill(signers.service);
  return [
    await inBlock(
      VALID_FROM,
      metering.accepts(
        'metering compiled before its key’s time, anchored in it',
        'It was signed later than compiled.',
        bill,
        { nulls: ['evidence'] },
      ),
    ),
    await inBlock(
      '2024-12-31T23:54:59Z',
      metering.refuses(
        'metering compiled and anchored before its key’s time',
        'The anchor shows that it was signed before the key was in use.',
        bill,
        ['key_window'],
      ),
    ),
  ];
}

/** Cases whose evidence is hashes with the anchored results of their receipts. */
async function loggedEvidence(): Promise<AnchorCase[]> {
  const { accepts: judged, refuses: refused } = casesOf('metering');
  const receipt = await emitted('standard');
  const { anchor } = await anchorOf(receipt, { at: ENDED_AT });
  const hash = { unit: 1, receipt_sha256: anchoredHash(receipt) };
  const bill = (leaf: JsonObject): Promise<JsonObject> =>
    signMetering(signedBody({ billed: 1, leaves: [leaf] }), ISSUED_SECONDS, signers.service);
  const counts = (logged: number): EvidenceCounts => ({
    verified: 0,
    logged,
    hashed: 1 - logged,
    trusted: 0,
    issued_in_window: 0,
  });
  const other = { unit: 1, receipt_sha256: '0'.repeat(64) };
  const good = await bill(hash);
  const nulls = ['anchor'];
  return [
    {
      ...judged('evidence with an anchor', 'A log of the trust signed a root over the hash.', good, {
        evidence: [{ ...hash, anchor }],
        nulls,
        counts: counts(1),
      }),
      authority,
    },
    judged('evidence with an anchor in a log that is not known', 'It says nothing.', good, {
      evidence: [{ ...hash, anchor }],
      nulls,
      counts: counts(0),
    }),
    {
      ...refused(
        'evidence with the anchor of another hash',
        'The path leads elsewhere.',
        await bill(other),
        ['evidence'],
        {
          evidence: [{ ...other, anchor }],
          nulls,
        },
      ),
      authority,
    },
  ];
}

async function endedCases(): Promise<AnchorCase[]> {
  const broken = ['key_window'];
  const nulls: string[] = [];
  return [
    await inBlock(
      '2025-12-01T00:00:00Z',
      accepts(
        'retired key, before its end, anchored later',
        'An anchor may come after the end.',
        await by('retired', END - SECOND),
        { nulls },
      ),
    ),
    await inBlock(
      '2025-07-01T00:10:00Z',
      refuses(
        'retired key, after its end, anchored',
        'An anchor does not make a key sign longer.',
        await by('retired', END),
        broken,
      ),
    ),
    await inBlock(
      ENDED_AT,
      accepts(
        'revoked (superseded) key, before, anchored before',
        'No anchor is needed; one does not hurt.',
        await by('revoked', END - SECOND),
        { nulls },
      ),
    ),
    await inBlock(
      '2025-07-02T00:00:00Z',
      refuses(
        'revoked (superseded) key, after, anchored',
        'An anchor does not help.',
        await by('revoked', END),
        broken,
      ),
    ),
    await inBlock(
      '2025-07-01T00:01:00Z',
      refuses(
        'compromised key, after, anchored',
        'An anchor does not help.',
        await by('compromised', END),
        broken,
      ),
    ),
  ];
}

async function compromisedCases(): Promise<AnchorCase[]> {
  const before = await by('compromised', END - 60 * SECOND);
  const undated = (name: string, comment: string, nulls: string[] = []) =>
    accepts(name, comment, before, { trusted: false, nulls: ['key_window', ...nulls] });
  const early = await inBlock(
    '2025-06-30T23:59:59Z',
    accepts('compromised key, before, anchored before', 'It existed before the compromise.', before, {
      nulls: [],
    }),
  );
  const { transaction: _transaction, ...offline } = early;
  const misled = undated(
    'compromised key, before, anchored before, other account',
    'Anybody can post early under their own account.',
  );
  const unproved = undated(
    'compromised key, before, another receipt anchored before',
    'The block dates what the path leads from, and nothing else.',
  );
  return [
    early,
    await inBlock(
      ENDED_AT,
      undated(
        'compromised key, before, anchored at the revocation',
        'The block must be earlier than revoked.at.',
      ),
    ),
    await inBlock(
      '2025-08-01T00:00:00Z',
      undated('compromised key, before, anchored after', 'Anchored too late to prove anything.'),
    ),
    {
      ...offline,
      ...undated(
        'compromised key, before, anchored before, offline',
        'verified_at is signed by nobody, and whoever stole a key may date it back: only the block counts.',
        ['anchor_transaction'],
      ),
      anchor: { ...(early.anchor as JsonObject), verified_at: '2025-06-30T23:59:59Z' },
    },
    {
      ...early,
      ...misled,
      expected: { ...misled.expected, valid: false, failed_checks: ['anchor_transaction'] },
      transaction: { ...early.transaction!, from: `0x${'11'.repeat(20)}` },
    },
    {
      ...early,
      ...unproved,
      expected: { ...unproved.expected, valid: false, failed_checks: ['anchor'] },
      anchor: { ...(early.anchor as JsonObject), merkle_path: [] },
    },
    {
      ...early,
      ...undated(
        'compromised key, before, anchored before in a log that is not known',
        'Anybody can run a log: only one that the bundle names dates a receipt.',
        ['anchor_checkpoint', 'anchor_transaction'],
      ),
      ...(await anchorOf(before, { at: '2025-06-30T23:59:59Z', origin: 'other.example/log' })),
    },
  ];
}
