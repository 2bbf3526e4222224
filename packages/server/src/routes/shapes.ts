import { z } from '@hono/zod-openapi';
import { isDid } from '@tallystick/core';

/** A DID as a caller gives it: long ones pass here and meet the profile's size limit. */
export const did = z
  .string()
  .refine(isDid, 'Not a DID: did:<method>:<id>, at most 2048 characters')
  .openapi({ example: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp' });

export const hex64 = z.string().regex(/^[0-9a-f]{64}$/, 'Not 64 lower-case hex characters');

export const sha256Text = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'Not sha256: and 64 lower-case hex characters');

export const anchorWanted = z.boolean().optional().openapi({
  description:
    'Anchor the receipt’s hash. Needs an API key; with a Scale or Enterprise key every receipt is anchored.',
});

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
    family: z.enum(['envelope', 'profile', 'metering', 'issue', 'legacy', 'benchmark', 'status']).nullable(),
    profile: z.string().nullable(),
    receipt_id: z.string().nullable(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean().nullable(), detail: z.string() })),
    evidence: z
      .object({
        verified: z.int(),
        logged: z.int(),
        hashed: z.int(),
        trusted: z.int(),
        issued_in_window: z.int(),
      })
      .optional()
      .openapi({
        description:
          'Only for a metering receipt whose evidence was given: the number of leaves of each class (each leaf counts once), how many of the verified receipts are trusted, and how many were issued in the window of the bill.',
      }),
    verified_at: z.string(),
  })
  .openapi('Verification');

const pendingSchema = z
  .object({
    anchor_ref: z.string().openapi({ example: 'urn:anchor:pending:2027-03-01T13:00Z:rs' }),
    batch_id: z.string().openapi({ description: 'The scheduled posting, to the minute (UTC).' }),
    eta_seconds: z.int().openapi({ description: 'Seconds until then; 0 if the posting is overdue.' }),
  })
  .openapi('PendingAnchor');

const anchoredSchema = z
  .object({
    anchor_ref: z.string(),
    network: z.string().openapi({ description: 'The name of the chain.' }),
    block_height: z.int(),
    tx_hash: z.string(),
    merkle_root: z.string().openapi({ description: '`sha256:` and hex: the root that was posted.' }),
    merkle_path: z.array(z.string()).openapi({ description: 'From the leaf’s sibling to the root’s child.' }),
    verified_at: z.string().openapi({ description: 'When the posting was seen to be final.' }),
    leaf_index: z.int(),
    tree_size: z.int(),
    checkpoint: z.string().openapi({ description: 'The log’s signed note of that root.' }),
  })
  .openapi('AnchoredResult', {
    description: 'The document that verifiers accept as `anchor` and check offline.',
  });

/** Specification 2.9. */
export const anchorResultSchema = z.union([pendingSchema, anchoredSchema]);
