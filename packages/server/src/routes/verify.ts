import { z } from '@hono/zod-openapi';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  TallyError,
  type Verification,
  verifyParsed,
} from '@tallystick/core';
import { nodeEngine } from '../crypto/node-ed25519.ts';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ownTransaction } from '../receipts/own-transaction.ts';
import type { Services } from '../services.ts';
import { receiptSchema, verificationSchema } from './shapes.ts';

const MAX_BATCH = 500;
const WRAPPER = new Set(['receipt', 'evidence', 'anchor']);

/** Verify receipts: free, no account (specification 4.1). */
export function verifyRoutes(services: Services): Endpoint[] {
  return [single(services), many(services)];
}

const wrapped = z.looseObject({
  receipt: receiptSchema,
  evidence: z.array(z.looseObject({})).optional(),
  anchor: z.unknown().optional().openapi({ type: 'object', description: 'The receipt’s anchored result.' }),
});
const EXAMPLE = { receipt: {} };
const DESCRIPTION =
  'Two verdicts, never one: `valid` says that the bytes are as they were signed and that the rules hold; `issuer.trusted` says that the key belongs to a verified issuer. Send the receipt itself, or `{"receipt": …, "evidence": […], "anchor": …}` with the evidence leaves of a metering receipt and the anchored result of any; without `anchor`, the one that the receipt carries is checked.';

function single(services: Services): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/receipt/verify',
    group: 'Verify',
    summary: 'Verify a receipt',
    description: DESCRIPTION,
    availability: 'live',
    body: z.union([receiptSchema, wrapped]),
    example: EXAMPLE,
    answers: {
      200: {
        description: 'The verdict on a receipt of any family, valid or not',
        schema: verificationSchema,
      },
    },
    errors: ['not_a_receipt'],
    async handle({ body }) {
      return json(await verdictOn(services, body as JsonValue));
    },
  });
}

function many(services: Services): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/receipts/verify',
    group: 'Verify',
    summary: 'Verify a receipt, or many',
    description: `${DESCRIPTION} Or send \`{"receipts": […]}\` with up to ${MAX_BATCH} receipts, each alone or wrapped.`,
    availability: 'live',
    body: z.union([
      receiptSchema,
      wrapped,
      z.looseObject({ receipts: z.array(z.union([receiptSchema, wrapped])) }),
    ]),
    example: EXAMPLE,
    answers: {
      200: {
        description: 'One verdict, or `results` in the order of `receipts`',
        schema: z.union([verificationSchema, z.object({ results: z.array(verificationSchema) })]),
      },
    },
    errors: ['not_a_receipt', 'too_many_receipts'],
    async handle({ body }) {
      const document = body as JsonObject;
      const { receipts, ...rest } = document;
      if (!Array.isArray(receipts)) return json(await verdictOn(services, document));
      const [stray] = Object.keys(rest);
      if (stray !== undefined) {
        throw new TallyError('unknown_field', `A batch has one member, receipts; ${stray} is not known.`, {
          field: stray,
        });
      }
      if (receipts.length > MAX_BATCH) {
        throw new TallyError(
          'too_many_receipts',
          `A batch holds at most ${MAX_BATCH} receipts; this one has ${receipts.length}.`,
          {
            field: 'receipts',
          },
        );
      }
      const results: Verification[] = [];
      for (const [index, receipt] of receipts.entries()) {
        results.push(await verifyOne(services, receipt, `receipts[${index}].`));
      }
      return json({ results });
    },
  });
}

/** As `verifyOne`, but refuses what is no receipt at all. */
async function verdictOn(services: Services, document: JsonValue): Promise<Verification> {
  const verdict = await verifyOne(services, document);
  if (verdict.family === null) {
    throw new TallyError(
      'not_a_receipt',
      'No known family of receipts has such members. Send the receipt as it was answered, or {"receipt": …}.',
    );
  }
  return verdict;
}

/** @param path where the document stands in the body, for errors */
async function verifyOne(
  { store, trust, clock }: Services,
  document: JsonValue,
  path = '',
): Promise<Verification> {
  const { receipt, evidence, anchor } = unwrap(document, path);
  const carried = isObject(receipt) ? receipt.anchor : undefined;
  return verifyParsed(receipt, {
    now: clock(),
    trust: isObject(receipt) ? await trust.forReceipt(receipt) : trust.issuers(),
    engine: nodeEngine,
    evidence,
    anchor,
    transaction: await ownTransaction(store, trust.anchors(), anchor ?? carried ?? null),
  });
}

interface Unwrapped {
  readonly receipt: JsonValue;
  readonly evidence: JsonValue[] | undefined;
  readonly anchor: JsonValue | undefined;
}

/** A profile receipt has a member `receipt` too, so that only an object of nothing but wrapper members is one. */
function unwrap(document: JsonValue, path: string): Unwrapped {
  const wrapper =
    isObject(document) &&
    isObject(document.receipt) &&
    Object.keys(document).every((name) => WRAPPER.has(name));
  if (!wrapper) return { receipt: document, evidence: undefined, anchor: undefined };
  const { receipt, evidence, anchor } = document;
  if (evidence !== undefined && !Array.isArray(evidence)) {
    throw new TallyError('invalid_field', 'evidence is a list of leaves.', { field: `${path}evidence` });
  }
  return { receipt: receipt ?? null, evidence, anchor };
}
