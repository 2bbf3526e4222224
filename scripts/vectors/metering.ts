import type { JsonObject, JsonValue, Signer } from '../../packages/core/src/index.ts';
import { type Bill, leaves, signedBody } from './bill.ts';
import {
  type Change,
  casesOf,
  changes,
  ISSUED_SECONDS,
  NO_KEY,
  NOT_REACHED,
  type ReceiptCase,
} from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { smallOrderKey, universalSignature, withLargeS, withSmallOrderR, withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { evidenceCases } from './metering-evidence.ts';
import { malformedBodies, wrongDerivations } from './metering-rules.ts';
import { signMetering } from './sign.ts';

const { accepts, refuses } = casesOf('metering');

/** A metering receipt of the service. `compiledAt` is the time in the body's compiled_at, in Unix seconds. */
export async function receipt(
  bill: Bill,
  compiledAt: number = ISSUED_SECONDS,
  signer: Signer = signers.service,
): Promise<JsonObject> {
  return signMetering(signedBody(bill), compiledAt, signer);
}

export async function meteringCases(): Promise<ReceiptCase[]> {
  const bill = { billed: 7, leaves: leaves(5) };
  const good = await receipt(bill);
  return [
    ...(await validCases(good)),
    ...(await evidenceCases(bill, good)),
    ...changes('metering', good, topLevelChanges, withMember),
    ...bodyChanges(good),
    ...(await forgedCases(bill, good)),
    ...(await wrongDerivations(bill)),
    ...malformedCases(good),
    ...(await malformedBodies(bill)),
  ];
}

async function validCases(good: JsonObject): Promise<ReceiptCase[]> {
  const of = (billed: number, backed: number): Promise<JsonObject> =>
    receipt({ billed, leaves: leaves(backed) });
  const nulls = ['evidence', 'anchor'];
  const half = await of(6, 3);
  return [
    accepts('majority', '5 of 7 units: 0.714286. No evidence was given: null, not true.', good, { nulls }),
    accepts('fully', 'All units are backed.', await of(3, 3)),
    accepts('exactly half', 'Half is a majority.', half),
    accepts('minority', '3 of 7 units: 0.428571.', await of(7, 3)),
    accepts('none', 'No leaf: the digest is SHA-256 of nothing.', await of(4, 0), {
      evidence: [],
      nulls: ['anchor'],
    }),
    accepts('nothing billed', 'The ratio of nothing is 0.', await of(0, 0), { evidence: [] }),
    accepts(
      'rounded up to 1',
      '9,999,999 of 10,000,000 units print as 1 and stay a majority.',
      await rounded(9_999_999),
    ),
    accepts('rounded down to 0', '1 of 10,000,000 units prints as 0 and stays a minority.', await rounded(1)),
    accepts('rounded half up', '25 of 10,000,000 units are 0.0000025: 0.000003.', await rounded(25)),
    accepts(
      'just under half',
      '4,999,999 of 10,000,000 units print as 0.5 and stay a minority.',
      await rounded(4_999_999),
    ),
    accepts('largest amounts', '10,000,000 units at 100,000,000.', await rounded(10_000_000, 100_000_000)),
    accepts(
      'settlement bound',
      'Binding a reference is not settling it.',
      await receipt({ billed: 1, leaves: leaves(1), settlement: 'invoice_reference' }),
    ),
    accepts(
      'settlement class none',
      'The committed value is empty.',
      await receipt({ billed: 1, leaves: [], settlement: 'none' }),
    ),
    accepts(
      'compiled as the window closes',
      'compiled_at may equal window_end.',
      await receipt({ billed: 1, leaves: leaves(1), windowEnd: '2026-01-15T11:00:00Z' }),
    ),
    accepts(
      'fractions of a second',
      'Nine digits; ts is the whole seconds.',
      await receipt({
        billed: 1,
        leaves: leaves(1),
        windowEnd: '2026-01-15T11:00:00.123456788Z',
        compiledAt: '2026-01-15T11:00:00.123456789Z',
      }),
    ),
    accepts('issuer not known', 'Integrity without trust.', good, {
      trust: 'empty',
      nulls: ['evidence', 'issuer', 'key_window', 'anchor'],
    }),
    accepts(
      'signed by a stranger',
      'Whole, of a key that belongs to nobody known.',
      await receipt({ billed: 7, leaves: leaves(5) }, ISSUED_SECONDS, signers.stranger),
      { trusted: false },
    ),
  ];
}

/** A bill with more backed units than a vector can list leaves for: the digest is that of one leaf. */
async function rounded(backed: number, unitRate = 1): Promise<JsonObject> {
  return receipt({ billed: 10_000_000, leaves: leaves(1), backed, unitRate });
}

const topLevelChanges: readonly Change[] = [
  ['receipt_id', `r_sls.metering_${ISSUED_SECONDS}_0123456789ab`, ['receipt_id_derived']],
  ['payload_sha256', '0'.repeat(64), ['payload_sha256']],
  ['ts', ISSUED_SECONDS + 1, ['ts', 'receipt_id_derived']],
  ['key_id', signers.stranger.keyId, ['signature']],
  ['key_id', 'did:svc:example:unknown', NO_KEY],
];

/** Cases of changes to the signed body: each breaks the signature, the digest and the id; in a derived member its rule too. */
function bodyChanges(good: JsonObject): ReceiptCase[] {
  const identity = ['metering_id'];
  const list: readonly (readonly [string, JsonValue, readonly string[]])[] = [
    ['metering_id', `sm_${'0'.repeat(32)}`, identity],
    ['machine_commitment', '0'.repeat(64), identity],
    ['customer_commitment', '0'.repeat(64), identity],
    ['service_unit', 'pick', identity],
    ['window_start', '2026-01-02T00:00:00Z', identity],
    ['window_end', '2026-01-14T00:00:00Z', identity],
    ['metered.receipt_set_digest', '0'.repeat(64), identity],
    ['compiled_at', '2026-01-15T11:00:00.5Z', []],
    ['rate.currency', 'USD', []],
    ['rate.rate_commitment', '0'.repeat(64), []],
    ['salt_commitment', '0'.repeat(64), []],
    ['amount_minor', 1, ['amount_minor']],
    ['coverage_class', 'fully_evidence_backed', ['coverage_class']],
  ];
  const always = ['signature', 'payload_sha256', 'receipt_id_derived'];
  return list.map(([path, value, failed]) =>
    refuses(
      `signed_body.${path} changed`,
      'Another body than was signed.',
      withMember(good, `signed_body.${path}`, value),
      [...always, ...failed],
    ),
  );
}

async function forgedCases(bill: Bill, good: JsonObject): Promise<ReceiptCase[]> {
  const { stranger, service, log } = signers;
  const another = await receipt({ ...bill, billed: 8 });
  const signature = textAt(good, 'sig_b64u');
  const signed = (sig_b64u: JsonValue): JsonObject => ({ ...good, sig_b64u });
  const failing = ['signature'];
  return [
    refuses(
      'key_id of another key',
      'Signed by a stranger who names our key.',
      { ...(await receipt(bill, ISSUED_SECONDS, stranger)), key_id: service.keyId },
      failing,
    ),
    refuses(
      'signed by the log key',
      'A key signs for one purpose only.',
      await receipt(bill, ISSUED_SECONDS, log),
      ['issuer'],
    ),
    refuses(
      'signature of another receipt',
      'A good signature over other contents.',
      signed(another.sig_b64u ?? null),
      failing,
    ),
    refuses(
      'small-order key',
      'The equation holds for every message; the key is refused.',
      { ...signed(universalSignature), key_id: smallOrderKey.keyId },
      NO_KEY,
    ),
    refuses('S + L', 'S must be below the group order.', signed(withLargeS(signature)), failing),
    refuses('small-order R', 'R must not be of small order.', signed(withSmallOrderR(signature)), failing),
  ];
}

function malformedCases(good: JsonObject): ReceiptCase[] {
  const list: Change[] = [
    ['algorithm', 'EdDSA'],
    ['receipt_id', `r_sls_metering_${ISSUED_SECONDS}_0123456789ab`],
    ['payload_sha256', `sha256:${textAt(good, 'payload_sha256')}`],
    ['sig_b64u', withSpareBits(textAt(good, 'sig_b64u'))],
    ['key_id', 'did:example:1'],
    ['ts', 999_999_999],
    ['anchor_ref', 'urn:anchor:x'],
    ['tier', 'pro'],
    ['issuer_did', 'did:svc:example'],
  ];
  return [
    ...list.map(([path, value]) =>
      refuses(
        `${path} is ${JSON.stringify(value)}`,
        'Metering is closed: no other form, no other member.',
        withMember(good, path, value),
        ['format'],
        NOT_REACHED,
      ),
    ),
    ...['payload_sha256', 'algorithm', 'ts'].map((path) =>
      refuses(`${path} missing`, 'It is required.', withoutMember(good, path), ['format'], NOT_REACHED),
    ),
  ];
}
