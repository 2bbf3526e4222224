import { canonicalBytes, type JsonObject, type JsonValue, sha256Hex } from '../../packages/core/src/index.ts';
import { type Bill, BOUNDARY, leaves, signedBody } from './bill.ts';
import { casesOf, ISSUED_SECONDS, NOT_REACHED, type ReceiptCase } from './cases.ts';
import { textAt, withMember, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { signMetering } from './sign.ts';

const { refuses } = casesOf('metering');

const sign = (body: JsonObject, compiledAt = ISSUED_SECONDS): Promise<JsonObject> =>
  signMetering(body, compiledAt, signers.service);

/** Cases of signed bodies that the service would never sign: each breaks one rule of the specification's 2.6. */
export async function wrongDerivations(bill: Bill): Promise<ReceiptCase[]> {
  const body = signedBody(bill);
  const one = async (
    path: string,
    value: JsonValue,
    failed: readonly string[],
    comment: string,
  ): Promise<ReceiptCase> =>
    refuses(
      `signed: ${path} is ${JSON.stringify(value)}`,
      comment,
      await sign(withMember(body, path, value)),
      failed,
    );
  const overclaimed = [
    'unbacked_unit_count',
    'evidence_coverage_ratio',
    'coverage_class',
    'verdict',
    'evidence_backed_amount_minor',
  ];
  return [
    await one('metered.unbacked_unit_count', 3, ['unbacked_unit_count'], 'Rule 2: billed less backed is 2.'),
    await one(
      'evidence_coverage_ratio',
      0.714285,
      ['evidence_coverage_ratio'],
      'Rule 3: rounded, not cut: 0.714286.',
    ),
    await one(
      'evidence_coverage_ratio',
      0.7142857,
      ['evidence_coverage_ratio'],
      'Rule 3: exactly six places.',
    ),
    await one(
      'evidence_coverage_ratio',
      0.000001,
      ['evidence_coverage_ratio'],
      'Rule 3: a small ratio is one too.',
    ),
    await one('coverage_class', 'fully_evidence_backed', ['coverage_class'], 'Rule 4: 5 of 7 is a majority.'),
    await one(
      'verdict',
      'metered_units_fully_evidence_backed',
      ['verdict'],
      'Rule 4: a majority is partial.',
    ),
    await one('amount_minor', 1751, ['amount_minor'], 'Rule 5: 7 units at 250 are 1750.'),
    await one(
      'evidence_backed_amount_minor',
      1750,
      ['evidence_backed_amount_minor'],
      'Rule 5: 5 units at 250 are 1250.',
    ),
    await one(
      'metered.evidence_backed_unit_count',
      7,
      overclaimed,
      'More backed units than were derived from.',
    ),
    await one('metering_id', `sm_${'0'.repeat(32)}`, ['metering_id'], 'It follows from the bill’s identity.'),
    await one(
      'metering_id',
      textAt(body, 'metering_id').slice(0, 19),
      ['metering_id'],
      'A shorter id has the form, but does not follow.',
    ),
    await overbacked(),
    ...(await promotions()),
    ...(await windows(bill)),
    ...(await topLevel(body)),
  ];
}

/** Case with more units backed than billed, which has no consistent form: no member can state the negative rest. */
async function overbacked(): Promise<ReceiptCase> {
  const body = { ...signedBody({ billed: 2, leaves: leaves(2) }) };
  const metered = { ...(body.metered as JsonObject), evidence_backed_unit_count: 3 };
  return refuses(
    'signed: more backed than billed',
    '3 of 2 units.',
    await sign({ ...body, metered, evidence_backed_amount_minor: 750 }),
    ['unbacked_unit_count', 'evidence_coverage_ratio', 'coverage_class', 'verdict'],
  );
}

/** Cases in which rounding must not promote. */
async function promotions(): Promise<ReceiptCase[]> {
  const body = signedBody({ billed: 10_000_000, leaves: leaves(1), backed: 9_999_999, unitRate: 1 });
  return [
    refuses(
      'signed: class from the printed ratio',
      '9,999,999 of 10,000,000 print as 1, but are not all.',
      await sign({
        ...body,
        coverage_class: 'fully_evidence_backed',
        verdict: 'metered_units_fully_evidence_backed',
      }),
      ['coverage_class', 'verdict'],
    ),
  ];
}

async function windows(bill: Bill): Promise<ReceiptCase[]> {
  const at = async (changes: Partial<Bill>): Promise<JsonObject> => sign(signedBody({ ...bill, ...changes }));
  return [
    refuses(
      'signed: compiled before the window closed',
      'Rule 7.',
      await at({ windowEnd: '2026-01-15T11:00:01Z' }),
      ['window'],
    ),
    refuses(
      'signed: compiled a nanosecond early',
      'Rule 7, at the last digit.',
      await at({ windowEnd: '2026-01-15T11:00:00.000000002Z', compiledAt: '2026-01-15T11:00:00.000000001Z' }),
      ['window'],
    ),
    refuses(
      'signed: empty window',
      'The window ends after it starts.',
      await at({ windowStart: '2026-01-15T00:00:00Z' }),
      ['window'],
    ),
    refuses(
      'signed: window backwards',
      'The window ends after it starts.',
      await at({ windowStart: '2026-01-15T10:00:00Z' }),
      ['window'],
    ),
  ];
}

/** Cases of top-level members that a dishonest issuer chose freely. */
async function topLevel(body: JsonObject): Promise<ReceiptCase[]> {
  const digest = sha256Hex(canonicalBytes(body));
  const hashed = await sign(body);
  return [
    refuses(
      'ts is not that of compiled_at',
      'ts and the id agree with each other, not with the body.',
      await sign(body, ISSUED_SECONDS + 1),
      ['ts'],
    ),
    refuses(
      'payload_sha256 of the text',
      'It is over the JCS bytes, not over the member order of this file.',
      { ...hashed, payload_sha256: sha256Hex(new TextEncoder().encode(JSON.stringify(body))) },
      ['payload_sha256'],
    ),
    refuses(
      'receipt_id of another digest',
      'The id ends with the digest’s first 12 hex.',
      { ...hashed, receipt_id: `r_sls.metering_${ISSUED_SECONDS}_${digest.slice(1, 13)}` },
      ['receipt_id_derived'],
    ),
  ];
}

/** Cases of bodies of a wrong form; they are signed, so that only the form is wrong. */
export async function malformedBodies(bill: Bill): Promise<ReceiptCase[]> {
  const body = signedBody(bill);
  const list: readonly (readonly [string, JsonValue])[] = [
    ['note', 'an additional member'],
    ['metered.note', 1],
    ['rate.note', 1],
    ['settlement_binding', { settlement_class: 'none', settlement_commitment: '0'.repeat(64), note: 1 }],
    ['settlement_binding', null],
    ['settlement_binding', { settlement_class: 'cash', settlement_commitment: '0'.repeat(64) }],
    ['schema', 'r1.0.1'],
    ['metering_id', `sm_${'0'.repeat(15)}`],
    ['service_unit', 'hour'],
    ['window_start', '2026-01-01T00:00:00'],
    ['window_end', '2026-01-32T00:00:00Z'],
    ['metered.billed_unit_count', 10_000_001],
    ['metered.billed_unit_count', -1],
    ['metered.billed_unit_count', 7.5],
    ['evidence_coverage_ratio', 1.000001],
    ['evidence_coverage_ratio', '0.714286'],
    ['coverage_class', 'fully'],
    ['verdict', 'money_is_owed'],
    ['rate.unit_rate_minor', 100_000_001],
    ['rate.unit_rate_minor', 2.5],
    ['rate.currency', 'eur'],
    ['amount_minor', 1750.5],
    ['amount_minor', -1750],
    ['salt_commitment', 'A'.repeat(64)],
    ['boundary', BOUNDARY.replace('does not prove', 'proves')],
    ['boundary', ''],
  ];
  const changed = list.map(async ([path, value]) =>
    refuses(
      `signed_body.${path} is ${JSON.stringify(value)}`,
      'The form is wrong.',
      await sign(withMember(body, path, value)),
      ['format'],
      NOT_REACHED,
    ),
  );
  const missing = ['metering_id', 'metered.receipt_set_digest', 'rate', 'verdict', 'boundary'].map(
    async (path) =>
      refuses(
        `signed_body.${path} missing`,
        'It is required.',
        await sign(withoutMember(body, path)),
        ['format'],
        NOT_REACHED,
      ),
  );
  return Promise.all([...changed, ...missing]);
}
