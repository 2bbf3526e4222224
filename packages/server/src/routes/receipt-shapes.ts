import { z } from '@hono/zod-openapi';
import { PROFILES } from '@tallystick/core';
import schemas from '../http/receipt-schemas.json' with { type: 'json' };

const COMPILED: Readonly<Record<string, object>> = schemas;

/**
 * The families of receipts as `spec/schemas` defines them; `scripts/openapi-schemas.ts` compiles them for the OpenAPI
 * document. A family that is not compiled is described as an object only.
 */
const familySchema = (name: string) => z.looseObject({}).openapi(name, COMPILED[name] ?? { type: 'object' });

export const envelopeSchema = familySchema('EnvelopeReceipt');
export const meteringReceiptSchema = familySchema('MeteringReceipt');

/** `NanoReceipt` of the profile nano. */
const nameOf = (profile: string): string => `${profile.slice(0, 1).toUpperCase()}${profile.slice(1)}Receipt`;

const profiles = PROFILES.map((profile) => familySchema(nameOf(profile)));

export const profileReceiptSchema = z.union(profiles);

/** Any document that a receipt id can lead to. */
export const keptReceiptSchema = z.union([envelopeSchema, ...profiles, meteringReceiptSchema]);
