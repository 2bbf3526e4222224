import { z } from '@hono/zod-openapi';
import {
  AGENT_ERRORS,
  AGENT_HEADERS,
  type Agent,
  type CredentialOf,
  carriesSignature,
  missingKey,
  tenantOf,
} from '@tallystick/callers';
import {
  type AssessedEvidence,
  COVERAGE_CLASSES,
  EVIDENCE_CLASSES,
  type EvidenceClass,
  evidenceHeaders,
  type JsonObject,
  type JsonValue,
  SERVICE_UNITS,
  SETTLEMENT_CLASSES,
  VERDICTS,
} from '@tallystick/core';
import { validate } from '@tallystick/kit';
import {
  issueTo,
  LeafBudget,
  METERING_PRICE,
  openIntake,
  readMeteredLines,
  refuseUnpaid,
  signBill,
  takeAll,
} from '@tallystick/receipts';
import type { Answer } from '../http/answer.ts';
import { hasMediaType } from '../http/body.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';
import {
  MINT_ERRORS,
  MINT_HEADERS,
  type MintNeeds,
  RECEIPT_HEADERS,
  receiptAnswerOf,
} from './receipt-answer.ts';
import { meteringReceiptSchema } from './receipt-shapes.ts';
import { noQuery } from './receipts.ts';
import { anchorWanted, hex64 } from './shapes.ts';

type Needs = MintNeeds & Pick<Services, 'trust'>;

const ROUTE = '/v1/receipt/metering';
/** A bill and its evidence, one per line. */
const LINES = 'application/x-ndjson';
/** Enough for two of the largest bills at once, each of which takes some 550 MB. */
const LEAVES_AT_ONCE = 20_000_000;

const commitment = (of: string) =>
  hex64.openapi({ description: `The commitment to ${of} (spec/metering.md).` });
const time = z.string().openapi({
  format: 'date-time',
  description: 'YYYY-MM-DDThh:mm:ss[.fraction]Z',
  example: '2026-01-01T00:00:00Z',
});
const units = z.int().min(0).max(10_000_000);
const amount = z.int().min(0);
const AGREES = 'It follows from the bill and its evidence; where it is given, it must agree.';

const derivedCounts = {
  evidence_backed_unit_count: units
    .optional()
    .openapi({ description: `Number of units that have evidence. ${AGREES}` }),
  unbacked_unit_count: units
    .optional()
    .openapi({ description: `Number of units without evidence. ${AGREES}` }),
  receipt_set_digest: hex64.optional().openapi({ description: `The digest of the evidence. ${AGREES}` }),
};

const bill = z.strictObject({
  machine_commitment: commitment('the machine’s serial number'),
  customer_commitment: commitment('the customer’s account'),
  salt_commitment: hex64.openapi({ description: 'SHA-256 of the salt of the commitments.' }),
  window_start: time.openapi({ description: 'The first instant of what is billed.' }),
  window_end: time.openapi({ description: 'The end of what is billed, exclusive.' }),
  compiled_at: time
    .optional()
    .openapi({ description: 'When the bill was compiled; the current time when absent.' }),
  service_unit: z.enum(SERVICE_UNITS).openapi({ description: 'What is counted.' }),
  billed_unit_count: units.openapi({ description: 'Number of units that are billed.' }),
  rate: z
    .strictObject({
      unit_rate_minor: z
        .int()
        .min(0)
        .max(100_000_000)
        .openapi({ description: 'In minor units of the currency.' }),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/, 'Not three upper-case letters')
        .openapi({ description: 'A code of ISO 4217, in use or withdrawn.', example: 'EUR' }),
      rate_commitment: commitment('the agreed rate'),
    })
    .openapi({ description: 'What a unit costs.' }),
  settlement_binding: z
    .strictObject({
      settlement_class: z.enum(SETTLEMENT_CLASSES).openapi({ description: 'How it is to be paid.' }),
      settlement_commitment: commitment('the settlement’s reference'),
    })
    .optional()
    .openapi({ description: 'How the bill is to be paid.' }),
  ...derivedCounts,
  metered: z
    .strictObject({
      billed_unit_count: units.optional().openapi({ description: 'Number of units that are billed.' }),
      ...derivedCounts,
    })
    .optional()
    .openapi({ description: `The counts as the receipt holds them. ${AGREES}` }),
  receipt_type: z
    .string()
    .optional()
    .openapi({ description: `\`sls.metering\`. ${AGREES}` }),
  schema: z
    .string()
    .optional()
    .openapi({ description: `The version of the schema. ${AGREES}` }),
  metering_id: z
    .string()
    .optional()
    .openapi({ description: `The id of the bill. ${AGREES}` }),
  evidence_coverage_ratio: z
    .number()
    .optional()
    .openapi({ description: `Share of the units that have evidence. ${AGREES}` }),
  coverage_class: z
    .enum(COVERAGE_CLASSES)
    .optional()
    .openapi({ description: `That share in words. ${AGREES}` }),
  amount_minor: amount
    .optional()
    .openapi({ description: `What is billed, in minor units of the currency. ${AGREES}` }),
  evidence_backed_amount_minor: amount
    .optional()
    .openapi({ description: `What of it has evidence, in minor units. ${AGREES}` }),
  verdict: z
    .enum(VERDICTS)
    .optional()
    .openapi({ description: `What the evidence comes to. ${AGREES}` }),
  boundary: z
    .string()
    .optional()
    .openapi({ description: `What the receipt does not say. ${AGREES}` }),
  evidence_policy: z.enum(EVIDENCE_CLASSES).optional().openapi({
    description:
      'The weakest evidence that is accepted for a unit. `verified`: whole receipts only. `logged`: also hashes that are in this log or come with an anchor. `hashed`, the default: also any other hash. The policy is not signed. A whole receipt that is not valid is always refused.',
  }),
  anchor: anchorWanted,
});

/** Documented here, but checked by the intake, so that both forms of the body refuse an item alike. */
const item = z.unknown().openapi({
  type: 'object',
  required: ['unit'],
  additionalProperties: false,
  properties: {
    unit: { type: 'integer', minimum: 1, description: 'The number of the billed unit, counted from 1.' },
    receipt_sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'The anchored hash of its receipt. Give either this or `receipt`.',
    },
    receipt: {
      type: 'object',
      description: 'The whole receipt: the service verifies it, computes its hash and does not store it.',
    },
    anchor: { type: 'object', description: 'The anchored result of the receipt; optional.' },
  },
});
const body = bill.extend({
  evidence: z
    .array(item)
    .openapi({ description: 'What shows that units were rendered; empty where nothing does.' }),
});

const hex = (digit: string): string => digit.repeat(64);
const EXAMPLE = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2026-01-01T00:00:00Z',
  window_end: '2026-01-15T00:00:00Z',
  service_unit: 'pallet_moved',
  billed_unit_count: 7,
  rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
};
const EXAMPLE_LEAVES = [
  { receipt_sha256: hex('a'), unit: 1 },
  { receipt_sha256: hex('b'), unit: 2 },
];

const EVIDENCE_HEADERS = {
  'X-Evidence-Verified': 'The number of leaves whose receipts were given whole and are valid.',
  'X-Evidence-Logged':
    'The number of other leaves whose hashes are in this log, or anchored in a log that it trusts.',
  'X-Evidence-Hashed': 'The number of leaves with hashes of which nothing else is known.',
  'X-Evidence-Trusted': 'The number of verified receipts from an issuer that this service trusts.',
  'X-Evidence-In-Window':
    'The number of verified receipts that say they were issued in the window of the bill.',
};

/** Mint metering receipts (specification 2.1 to 2.6). */
export function meteringRoutes(services: Needs): Endpoint[] {
  const budget = new LeafBudget(LEAVES_AT_ONCE);
  return [
    endpoint({
      method: 'post',
      path: ROUTE,
      operationId: 'mintMeteringReceipt',
      credentials: ['none', 'apiKey', 'tenantKey', 'messageSignature', 'payment'],
      group: 'Receipts',
      summary: 'Mint a metering receipt',
      description:
        'Signs a bill of machine service units and states how much of it has evidence. Counts, ratio, class, verdict and amounts follow from the bill and its evidence; if you send one of them, it must agree. Serial numbers and salts stay with you: send commitments to them. `X-Receipt-Profile` is `metering`; the receipt is kept about seven years.',
      availability: 'live',
      headers: {
        'Idempotency-Key': MINT_HEADERS['Idempotency-Key'],
        Authorization: MINT_HEADERS.Authorization,
        ...AGENT_HEADERS,
      },
      price: METERING_PRICE,
      query: noQuery,
      body,
      example: { ...EXAMPLE, evidence: EXAMPLE_LEAVES },
      admit: (call) => admitPayer(services, call),
      stream: {
        mediaType: LINES,
        description:
          'The first line is the bill without `evidence` (at most 64 KiB), each further line one item of evidence in order (at most 128 KiB), up to 10,000,000. Errors name the line.',
        example: [EXAMPLE, ...EXAMPLE_LEAVES].map((line) => `${JSON.stringify(line)}\n`).join(''),
        async handle(call) {
          const credential = call.admitted;
          let anchor = false;
          let policy: EvidenceClass | undefined;
          const lines = await readMeteredLines(call.chunks, {
            readBill: (value) => {
              const { anchor: wantsAnchor, evidence_policy, ...billDocument } = validate(bill, value);
              anchor = wantsAnchor ?? false;
              policy = evidence_policy;
              if (anchor && credential.kind === 'none') throw missingKey('anchor');
              return billDocument as JsonObject;
            },
            openIntake: (billDocument) => openIntake(services, billDocument, policy ?? 'hashed'),
            budget,
          });
          return mint(services, call, {
            credential,
            agent: NOBODY,
            anchor,
            policy,
            billDocument: lines.bill,
            evidence: lines.evidence,
          });
        },
      },
      answers: {
        200: {
          description: 'The metering receipt',
          schema: meteringReceiptSchema,
          headers: { ...RECEIPT_HEADERS, ...EVIDENCE_HEADERS },
        },
      },
      errors: [
        'metering_window',
        'metering_compiled_early',
        'metering_compiled_late',
        'metering_derived_mismatch',
        'metering_unit_range',
        'metering_unit_twice',
        'metering_receipt_twice',
        'metering_evidence_invalid',
        'metering_evidence_policy',
        'receipt_purged',
        ...AGENT_ERRORS,
        ...MINT_ERRORS,
      ],
      async handle(call) {
        const credential = call.admitted;
        const { evidence: items, anchor = false, evidence_policy: policy, ...rest } = call.body;
        const billDocument = rest as JsonObject;
        const intake = openIntake(services, billDocument, policy ?? 'hashed');
        const evidence = await takeAll(intake, items as JsonValue[]);
        // The agent does not decide whose bill it is. It is read only if its balance may pay.
        const isPriced = services.payments !== null && credential.kind === 'none';
        const agent = isPriced ? await services.callers.agentOf(call) : NOBODY;
        return mint(services, call, { credential, agent, anchor, policy, billDocument, evidence });
      },
    }),
  ];
}

/** @throws payment_required where payments are on and none of the request's headers can pay */
async function admitPayer(services: Needs, exchange: Exchange) {
  const credential = await services.callers.admit(exchange, 'apiKey', 'tenantKey', 'none');
  const mayBePrepaid =
    credential.kind !== 'none' || (carriesSignature(exchange.incoming) && !hasMediaType(exchange.c, LINES));
  await refuseUnpaid(services, exchange, { profile: 'metering', mayBePrepaid });
  return credential;
}

interface Metered {
  readonly credential: CredentialOf<'none' | 'apiKey' | 'tenantKey'>;
  /** The agent whose balance may pay. */
  readonly agent: Agent;
  readonly anchor: boolean;
  /** As the caller gave it. */
  readonly policy: EvidenceClass | undefined;
  readonly billDocument: JsonObject;
  readonly evidence: AssessedEvidence;
}

/** A body that is processed as it arrives cannot be signed, since a signature covers the whole. */
const NOBODY: Agent = { did: null, proved: false };

/** Both forms of a body are the same request under an `Idempotency-Key`. */
async function mint(
  services: Needs,
  exchange: Exchange,
  { credential, agent, anchor, policy, billDocument, evidence }: Metered,
): Promise<Answer> {
  const options = { ...(anchor && { anchor }), ...(policy !== undefined && { evidence_policy: policy }) };
  const issued = await issueTo(services, exchange, {
    claim: { route: ROUTE, body: { bill: billDocument, evidence: evidence.digest, ...options } },
    credential,
    anchor,
    priced: { profile: 'metering', agent },
    sign: () => signBill(services, billDocument, evidence, tenantOf(credential)),
  });
  // Describes the evidence of this request, even if the receipt is that of an earlier one.
  return receiptAnswerOf(issued, 'metering', evidenceHeaders(evidence.counts));
}
