import { z } from '@hono/zod-openapi';
import { isDid } from '@tallystick/core';

/** A DID as a caller gives it: long ones pass here and meet the profile's size limit. */
export const did = z
  .string()
  .refine(isDid, 'Not a DID: did:<method>:<id>, at most 2048 characters')
  .openapi({ example: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp' });

export const hex64 = z.string().regex(/^[0-9a-f]{64}$/, 'Not 64 lower-case hex characters');

/** A signed document, whose members `spec/` defines. */
export const receiptSchema = z.looseObject({}).openapi('Receipt', {
  description: 'A signed receipt; spec/receipts.md and the JSON Schemas beside it define each family.',
});

export const verificationSchema = z
  .object({
    valid: z.boolean(),
    integrity: z.boolean(),
    issuer: z.object({
      did: z.string().nullable(),
      key_id: z.string().nullable(),
      trusted: z.boolean(),
      status: z.enum(['verified', 'registered', 'unknown', 'contradicted']),
      key_state: z.enum(['pending', 'active', 'retired', 'revoked', 'compromised', 'unknown']),
    }),
    family: z.enum(['envelope', 'profile', 'metering', 'issue', 'legacy']).nullable(),
    profile: z.string().nullable(),
    receipt_id: z.string().nullable(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean().nullable(), detail: z.string() })),
    verified_at: z.string(),
  })
  .openapi('Verification');
