import { z } from '@hono/zod-openapi';
import { API_KEY_ERRORS } from '@tallystick/callers';
import {
  familyOf,
  isObject,
  type JsonObject,
  type JsonValue,
  TallyError,
  type Verification,
  verifyParsed,
} from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { evidenceSources, ownTransaction, type VerificationSlot } from '@tallystick/receipts';
import { json } from '../http/answer.ts';
import { header, isProbe } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';
import { receiptSchema, verificationSchema } from './shapes.ts';

type Needs = Pick<Services, 'clock' | 'store' | 'trust' | 'callers' | 'verificationQueue'>;

const MAX_BATCH = 500;
const WRAPPER = new Set(['receipt', 'evidence', 'anchor']);

/** Verify receipts: free, no account (specification 4.1). */
export function verifyRoutes(services: Needs): Endpoint[] {
  return [single(services), many(services)];
}

const wrapped = z
  .looseObject({
    receipt: receiptSchema,
    evidence: z
      .array(z.looseObject({}))
      .optional()
      .openapi({ description: 'The evidence of a metering receipt: leaves, or whole receipts.' }),
    anchor: z.unknown().optional().openapi({ type: 'object', description: 'The receipt’s anchored result.' }),
  })
  .openapi('ReceiptWithEvidence', { description: 'A receipt, and what it is to be checked with.' });
const EXAMPLE = { receipt: {} };
const DESCRIPTION =
  'The answer has two separate verdicts: `valid` means that the bytes are unchanged since they were signed and that the rules hold; `issuer.trusted` means that the key belongs to a verified issuer. Send the receipt itself, or `{"receipt": …, "evidence": […], "anchor": …}` with the evidence of a metering receipt (leaves, or the whole receipts that back the units) and the anchored result of any receipt; without `anchor`, the one inside the receipt is checked.';

function single(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/receipt/verify',
    operationId: 'verifyReceipt',
    credentials: ['none', 'apiKey'],
    group: 'Verify',
    summary: 'Verify a receipt',
    description: DESCRIPTION,
    availability: 'live',
    body: z.union([receiptSchema, wrapped]),
    example: EXAMPLE,
    answers: {
      200: {
        description: 'The verdict on the receipt, valid or not',
        schema: verificationSchema,
      },
    },
    headers: VERIFY_HEADERS,
    errors: ['not_a_receipt', ...TURN_ERRORS],
    async handle(call) {
      const turn = await turnOf(services, call);
      try {
        return json(await verdictOn(services, call.body as JsonValue));
      } finally {
        turn.end();
      }
    },
  });
}

function many(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/receipts/verify',
    operationId: 'verifyReceipts',
    credentials: ['none', 'apiKey'],
    group: 'Verify',
    summary: 'Verify a receipt, or many',
    description: `${DESCRIPTION} Or send \`{"receipts": […]}\` with up to ${MAX_BATCH} receipts, each alone or wrapped.`,
    availability: 'live',
    body: z.union([
      receiptSchema,
      wrapped,
      z.looseObject({
        receipts: z
          .array(z.union([receiptSchema, wrapped]))
          .openapi({ maxItems: MAX_BATCH, description: 'Receipts, each alone or wrapped.' }),
      }),
    ]),
    example: EXAMPLE,
    answers: {
      200: {
        description: 'One verdict, or `results` in the order of `receipts`',
        schema: z.union([
          verificationSchema,
          z.object({
            results: z.array(verificationSchema).openapi({ description: 'One for each receipt.' }),
          }),
        ]),
      },
    },
    headers: VERIFY_HEADERS,
    errors: ['not_a_receipt', 'too_many_receipts', ...TURN_ERRORS],
    async handle(call) {
      const receipts = batchIn(call.body as JsonObject);
      const turn = await turnOf(services, call);
      try {
        if (receipts === null) return json(await verdictOn(services, call.body as JsonValue));
        return json({ results: await verdictsOn(services, receipts, turn) });
      } finally {
        turn.end();
      }
    },
  });
}

/** The receipts of a batch; null for a body that is one receipt. @throws unknown_field, too_many_receipts */
function batchIn({ receipts, ...rest }: JsonObject): readonly JsonValue[] | null {
  if (!Array.isArray(receipts)) return null;
  const [stray] = Object.keys(rest);
  if (stray !== undefined) {
    throw new TallyError('unknown_field', `A batch has one member, receipts; ${stray} is unknown.`, {
      field: stray,
    });
  }
  if (receipts.length > MAX_BATCH) {
    throw new TallyError(
      'too_many_receipts',
      `A batch holds at most ${MAX_BATCH} receipts; this one has ${receipts.length}.`,
      { field: 'receipts' },
    );
  }
  return receipts;
}

const VERIFY_HEADERS = {
  Authorization:
    'Optional: `Bearer` and a Pro, Scale or Enterprise key, whose requests do not wait for those of callers without a key.',
};

const TURN_ERRORS = [...API_KEY_ERRORS, 'unavailable'] as const;

/** A key of a tier; any other `Authorization` gives no priority here, and is not read. */
const KEY_OF_TIER = /^Bearer k_(?:pro|scale|ent)_/i;

/** The slot of a status probe, which does not wait: many callers do not mean that the endpoint is down. */
const NO_TURN: VerificationSlot = { between: async () => {}, end: () => {} };

/** The slot of the caller, by its key. @throws api_key_invalid, api_key_revoked, api_key_expired; unavailable */
async function turnOf({ callers, verificationQueue }: Needs, exchange: Exchange): Promise<VerificationSlot> {
  const hasKey = KEY_OF_TIER.test(header(exchange.c, 'authorization') ?? '');
  if (isProbe(exchange.c)) return NO_TURN;
  if (!hasKey) return verificationQueue.second();
  await callers.admit(exchange, 'apiKey');
  return verificationQueue.first();
}

async function verdictsOn(
  services: Needs,
  receipts: readonly JsonValue[],
  turn: VerificationSlot,
): Promise<Verification[]> {
  const results: Verification[] = [];
  for (const [index, receipt] of receipts.entries()) {
    if (index > 0) await turn.between();
    results.push(await verifyOne(services, receipt, `receipts[${index}].`));
  }
  return results;
}

/** Verifies like `verifyOne`, but refuses what is not a receipt. */
async function verdictOn(services: Needs, document: JsonValue): Promise<Verification> {
  const verdict = await verifyOne(services, document);
  if (verdict.family === null) {
    throw new TallyError(
      'not_a_receipt',
      'No known receipt family has these members. Send the receipt exactly as it was issued, or {"receipt": …}.',
    );
  }
  return verdict;
}

/** @param path of the document in the body, for errors */
async function verifyOne(
  { store, trust, clock }: Needs,
  document: JsonValue,
  path = '',
): Promise<Verification> {
  const { receipt, evidence, anchor } = unwrap(document, path);
  if (isObject(document)) refuseStray(document, path);
  const carried = isObject(receipt) ? receipt.anchor : undefined;
  return verifyParsed(receipt, {
    now: clock(),
    trust: isObject(receipt) ? await trust.forReceipt(receipt) : trust.issuers(),
    engine: nodeEngine,
    evidence,
    evidenceSources: evidenceSources({ store, trust }),
    anchor,
    transaction: await ownTransaction(store, trust.anchors(), anchor ?? carried ?? null),
  });
}

/** @throws unknown_field for what is not a receipt itself, but has one beside members that a wrapper does not have */
function refuseStray(document: JsonObject, path: string): void {
  const { receipt } = document;
  if (!isObject(receipt) || familyOf(document) !== null || familyOf(receipt) === null) return;
  const stray = Object.keys(document).find((name) => !WRAPPER.has(name));
  if (stray === undefined) return;
  const field = `${path}${stray}`;
  const message = `${field} is not known beside a receipt. Known fields: ${[...WRAPPER].join(', ')}.`;
  throw new TallyError('unknown_field', message, { field });
}

interface Unwrapped {
  readonly receipt: JsonValue;
  readonly evidence: JsonValue[] | undefined;
  readonly anchor: JsonValue | undefined;
}

/** A profile receipt may have a member `receipt` too, so only an object with nothing but wrapper members is a wrapper. */
function unwrap(document: JsonValue, path: string): Unwrapped {
  const wrapper =
    isObject(document) &&
    isObject(document.receipt) &&
    Object.keys(document).every((name) => WRAPPER.has(name));
  if (!wrapper) return { receipt: document, evidence: undefined, anchor: undefined };
  const { receipt, evidence, anchor } = document;
  if (evidence !== undefined && !Array.isArray(evidence)) {
    throw new TallyError('invalid_field', 'evidence must be a list of leaves.', { field: `${path}evidence` });
  }
  return { receipt: receipt ?? null, evidence, anchor };
}
