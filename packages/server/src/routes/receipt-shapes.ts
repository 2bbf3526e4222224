import { z } from '@hono/zod-openapi';
import schemas from '../http/receipt-schemas.json' with { type: 'json' };

/** The families of receipts as `spec/schemas` defines them; `scripts/openapi-schemas.ts` compiles it for the OpenAPI document. */
const familySchema = (name: keyof typeof schemas) => z.looseObject({}).openapi(name, schemas[name] as object);

export const envelopeSchema = familySchema('EnvelopeReceipt');
export const meteringReceiptSchema = familySchema('MeteringReceipt');

const profiles = [
  familySchema('NanoReceipt'),
  familySchema('StandardReceipt'),
  familySchema('PqReceipt'),
] as const;

/** A receipt of a profile. */
export const profileReceiptSchema = z.union(profiles);

/** Whatever a receipt's id leads to. */
export const keptReceiptSchema = z.union([envelopeSchema, ...profiles, meteringReceiptSchema]);
