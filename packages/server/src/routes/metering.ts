import { z } from '@hono/zod-openapi';
import {
  COVERAGE_CLASSES,
  type EvidenceSummary,
  type JsonObject,
  type JsonValue,
  SERVICE_UNITS,
  SETTLEMENT_CLASSES,
  VERDICTS,
} from '@tallystick/core';
import { type ApiKey, missingKey } from '../api-keys/authenticate.ts';
import type { Answer } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { validate } from '../http/validate.ts';
import { mintBill, openTally, tallyAll } from '../receipts/metering.ts';
import { LeafBudget, readMeteredLines } from '../receipts/metering-lines.ts';
import type { Services } from '../services.ts';
import { MINT_ERRORS, MINT_HEADERS, mintOnce, RECEIPT_HEADERS } from './minted.ts';
import { anchorWanted, hex64, receiptSchema } from './shapes.ts';

const ROUTE = '/v1/receipt/metering';
/** Two of the largest bills at once, each of which takes some 550 MB. */
const LEAVES_AT_ONCE = 20_000_000;

const commitment = (of: string) =>
  hex64.openapi({ description: `The commitment to ${of} (spec/metering.md).` });
const time = z
  .string()
  .openapi({ description: 'YYYY-MM-DDThh:mm:ss[.fraction]Z', example: '2026-01-01T00:00:00Z' });
const units = z.int().min(0).max(10_000_000);
const amount = z.int().min(0);

const derivedCounts = {
  evidence_backed_unit_count: units.optional(),
  unbacked_unit_count: units.optional(),
  receipt_set_digest: hex64.optional(),
};

const bill = z.strictObject({
  machine_commitment: commitment('the machine’s serial'),
  customer_commitment: commitment('the customer’s account'),
  salt_commitment: hex64.openapi({ description: 'SHA-256 of the salt of the commitments.' }),
  window_start: time,
  window_end: time,
  compiled_at: time.optional().openapi({ description: 'When the bill was compiled; now when absent.' }),
  service_unit: z.enum(SERVICE_UNITS),
  billed_unit_count: units,
  rate: z.strictObject({
    unit_rate_minor: z
      .int()
      .min(0)
      .max(100_000_000)
      .openapi({ description: 'In minor units of the currency.' }),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'Not three upper-case letters')
      .openapi({ example: 'EUR' }),
    rate_commitment: commitment('the agreed rate'),
  }),
  settlement_binding: z
    .strictObject({
      settlement_class: z.enum(SETTLEMENT_CLASSES),
      settlement_commitment: commitment('the settlement’s reference'),
    })
    .optional(),
  ...derivedCounts,
  metered: z.strictObject({ billed_unit_count: units.optional(), ...derivedCounts }).optional(),
  receipt_type: z.string().optional(),
  schema: z.string().optional(),
  metering_id: z.string().optional(),
  evidence_coverage_ratio: z.number().optional(),
  coverage_class: z.enum(COVERAGE_CLASSES).optional(),
  amount_minor: amount.optional(),
  evidence_backed_amount_minor: amount.optional(),
  verdict: z.enum(VERDICTS).optional(),
  boundary: z.string().optional(),
  anchor: anchorWanted,
});

/** Documented here, checked by the tally: a leaf is refused the same in both forms of the body. */
const leaf = z.unknown().openapi({
  type: 'object',
  required: ['unit', 'receipt_sha256'],
  additionalProperties: false,
  properties: {
    unit: { type: 'integer', minimum: 1, description: 'Which of the billed units, from 1.' },
    receipt_sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'The anchored hash of its receipt.',
    },
  },
});
const body = bill.extend({ evidence: z.array(leaf) });

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

/** Mint metering receipts (specification 2.1 to 2.6). */
export function meteringRoutes(services: Services): Endpoint[] {
  const budget = new LeafBudget(LEAVES_AT_ONCE);
  return [
    endpoint({
      method: 'post',
      path: ROUTE,
      group: 'Receipts',
      summary: 'Mint a metering receipt',
      description:
        'Signs a bill of machine service units and how much of it has evidence. Counts, ratio, class, verdict and amounts follow from the bill and its evidence; say one yourself, and it must agree. Serials and salts stay with you: send commitments. `X-Receipt-Profile` is `metering`; the receipt is kept about seven years.',
      availability: 'live',
      headers: {
        'Idempotency-Key': MINT_HEADERS['Idempotency-Key'],
        Authorization: MINT_HEADERS.Authorization,
      },
      body,
      example: { ...EXAMPLE, evidence: EXAMPLE_LEAVES },
      stream: {
        mediaType: 'application/x-ndjson',
        description:
          'The first line is the bill without `evidence` (at most 64 KiB), each further line one leaf in order (at most 512 bytes), up to 10,000,000. Errors name the line.',
        example: [EXAMPLE, ...EXAMPLE_LEAVES].map((line) => `${JSON.stringify(line)}\n`).join(''),
        async handle(call) {
          const payer = await payerOf(services, call);
          let anchor = false;
          const lines = await readMeteredLines(call.chunks, {
            readBill: (value) => {
              const { anchor: wanted, ...said } = validate(bill, value);
              anchor = wanted ?? false;
              if (anchor && payer.key === null && payer.tenant === null) throw missingKey(call, 'anchor');
              return said as JsonObject;
            },
            openTally: (said) => openTally(services, said),
            budget,
          });
          return mint(services, call, { ...payer, anchor, said: lines.bill, evidence: lines.evidence });
        },
      },
      answers: {
        200: { description: 'The metering receipt', schema: receiptSchema, headers: RECEIPT_HEADERS },
      },
      errors: [
        'metering_window',
        'metering_compiled_early',
        'metering_compiled_late',
        'metering_compiled_before_key',
        'metering_derived_mismatch',
        'metering_unit_range',
        'metering_unit_twice',
        'metering_receipt_twice',
        'receipt_purged',
        ...MINT_ERRORS,
      ],
      async handle(call) {
        const payer = await payerOf(services, call);
        const { evidence: leaves, anchor = false, ...rest } = call.body;
        const said = rest as JsonObject;
        const evidence = tallyAll(openTally(services, said), leaves as JsonValue[]);
        return mint(services, call, { ...payer, anchor, said, evidence });
      },
    }),
  ];
}

/** Whose key a bill comes under: at most one of the two. */
interface Payer {
  readonly key: ApiKey | null;
  readonly tenant: string | null;
}

async function payerOf({ tenants, apiKeys }: Services, exchange: Exchange): Promise<Payer> {
  const tenant = await tenants.of(exchange);
  return { tenant, key: tenant === null ? await apiKeys.find(exchange) : null };
}

interface Metered extends Payer {
  readonly anchor: boolean;
  readonly said: JsonObject;
  readonly evidence: EvidenceSummary;
}

/** Both forms of a body make the same request under an `Idempotency-Key`. */
function mint(
  services: Services,
  exchange: Exchange,
  { key, tenant, anchor, said, evidence }: Metered,
): Promise<Answer> {
  const asked = anchor ? { anchor } : {};
  return mintOnce(services, exchange, {
    claim: { route: ROUTE, body: { bill: said, evidence: evidence.digest, ...asked } },
    profile: 'metering',
    key,
    tenant,
    anchor,
    mint: (keeping) => mintBill(services, said, evidence, keeping),
  });
}
