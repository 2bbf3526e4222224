import { hash } from 'node:crypto';
import { canonicalize, copyJson, type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { type Incoming, idempotencyKey } from '@tallystick/kit';
import type { PaymentPayload } from '@x402/core/types';
import { z } from 'zod';

/** More bytes than a deposit of a smart wallet with its extensions has. */
const MAX_HEADER = 16_384;

const requirements = z.looseObject({
  scheme: z.string(),
  network: z.templateLiteral([z.string(), ':', z.string()]),
  asset: z.string(),
  amount: z.string().regex(/^\d{1,39}$/),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: z.record(z.string(), z.unknown()).default({}),
});

const payloadSchema = z.object({
  x402Version: z.literal(2),
  accepted: requirements,
  payload: z.record(z.string(), z.unknown()),
  extensions: z.record(z.string(), z.unknown()).optional(),
});

/** A payment as a request carries it, and the hash of its bytes. */
export interface CarriedPayment {
  readonly payload: PaymentPayload;
  /** SHA-256 (hex) over JCS of the scheme's own payload. Once the payment is settled, whoever reads the chain can make it too. */
  readonly proof: string;
  /** From the extension `payment-identifier`, else the request's `Idempotency-Key`. */
  readonly identifier: string | null;
}

/** Reads the payment in `PAYMENT-SIGNATURE` (x402 v2); null where there is none. @throws payment_malformed */
export function readPayment(incoming: Incoming): CarriedPayment | null {
  const text = incoming.header('payment-signature');
  if (text === undefined) return null;
  if (text.length > MAX_HEADER) throw malformed(`is longer than ${MAX_HEADER} characters`);
  const json = decode(text);
  const parsed = payloadSchema.safeParse(json);
  if (!parsed.success) throw malformed(whatIsWrong(parsed.error));
  const { extensions, ...rest } = parsed.data;
  const payload: PaymentPayload = { ...rest, ...(extensions !== undefined && { extensions }) };
  return {
    payload,
    proof: hash('sha256', canonicalize(copyJson(payload.payload))),
    identifier: identifierIn(extensions) ?? idempotencyKey(incoming) ?? null,
  };
}

function decode(text: string): JsonValue {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw malformed('is not base64');
  try {
    return parseJson(Buffer.from(text, 'base64'));
  } catch {
    throw malformed('is not base64 of JSON');
  }
}

function whatIsWrong(error: z.ZodError): string {
  const [issue] = error.issues;
  return `is not a payment of x402 version 2: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim();
}

/** The extension's own form (x402's payment-identifier): 16 to 128 letters, digits, hyphens and underscores. */
function identifierIn(extensions: Readonly<Record<string, unknown>> | undefined): string | null {
  const parsed = identifierSchema.safeParse(extensions?.['payment-identifier']);
  if (!parsed.success) throw malformed('has a payment identifier that is not 16 to 128 of A-Z a-z 0-9 - _');
  return parsed.data?.info.id ?? null;
}

const identifierSchema = z
  .looseObject({
    info: z.looseObject({
      id: z
        .string()
        .regex(/^[\w-]{16,128}$/)
        .optional(),
    }),
  })
  .optional();

function malformed(what: string): TallyError {
  return new TallyError('payment_malformed', `PAYMENT-SIGNATURE ${what}.`, { field: 'PAYMENT-SIGNATURE' });
}
