import { z } from '@hono/zod-openapi';
import { isDid, receiptIdPattern } from '@tallystick/core';

/** The refusal of a text that cannot be in a database: PostgreSQL takes no zero byte. */
export const storable = [(text: string): boolean => !text.includes('\0'), 'It has a zero byte'] as const;

/** A DID in a request. The profile's size limit refuses long ones. */
export const did = z.string().refine(isDid, 'Not a DID: did:<method>:<id>, at most 2048 characters').openapi({
  pattern: '^did:[a-z0-9]+:',
  maxLength: 2048,
  example: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
});

/** Primitives of answers: what the service writes, which nobody's input is checked by. */

/** An instant in UTC. */
export const timestamp = z.string().openapi({
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$`,
  example: '2027-03-01T12:00:00Z',
});

export const receiptIdText = z.string().openapi({
  pattern: receiptIdPattern.source,
  example: 'r_env_1803902400_0123456789ab',
});

/** A DID in an answer. */
export const didText = z.string().openapi({
  pattern: '^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$',
  example: 'did:svc:acme',
});

/** 32 bytes. */
export const publicKeyText = z.string().openapi({
  pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  description: 'An Ed25519 public key: 32 bytes, base64url without padding.',
});

export const signatureText = z.string().openapi({
  pattern: '^[A-Za-z0-9_-]{85}[AQgw]$',
  description: 'An Ed25519 signature: 64 bytes, base64url without padding.',
});

export const digestText = z.string().openapi({ pattern: '^sha256:[0-9a-f]{64}$' });
export const hexDigest = z.string().openapi({ pattern: '^[0-9a-f]{64}$' });
export const txHash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
export const evmAddress = z.string().openapi({ pattern: '^0x[0-9a-fA-F]{40}$' });
/** US dollars. */
export const dollars = z.string().openapi({ pattern: String.raw`^\d+(\.\d+)?$`, example: '0.0008' });
export const count = z.int().openapi({ minimum: 0 });
export const usdc = z.literal('USDC').openapi({ description: 'All amounts here are in USDC.' });

export const apiKeyIdText = z.string().openapi({
  pattern: '^key_[0-9a-z]{16}$',
  description: 'The id of an API key, which is no secret.',
  example: 'key_4fmx07q2zk81ab9c',
});

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
    valid: z.boolean().openapi({ description: 'Whether no check failed.' }),
    integrity: z.boolean().openapi({
      description: 'Whether the signature is right for the bytes and the key that the receipt names.',
    }),
    issuer: z
      .object({
        did: z.string().nullable().openapi({ description: 'The DID that the receipt names as its issuer.' }),
        key_id: z.string().nullable().openapi({ description: 'The key that signed it.' }),
        trusted: z.boolean().openapi({ description: 'Whether the key belongs to a verified issuer.' }),
        status: z
          .enum(['verified', 'registered', 'unknown', 'contradicted'])
          .openapi({ description: 'What the trust bundle says of the issuer.' }),
        key_state: z
          .enum(['pending', 'active', 'retired', 'revoked', 'compromised', 'unknown'])
          .openapi({ description: 'What the trust bundle says of the key.' }),
      })
      .openapi({ description: 'Who signed, and whether this service trusts them.' }),
    witnessed: z.null().openapi({
      description:
        'Always null here. Which witnesses must have cosigned the log is the choice of who verifies, offline (`--witness-policy`, `witnessPolicy`).',
    }),
    family: z
      .enum(['envelope', 'profile', 'metering', 'issue', 'legacy', 'benchmark', 'status'])
      .nullable()
      .openapi({ description: 'The family of the document; null where it is none that is known.' }),
    profile: z.string().nullable().openapi({ description: 'The profile of the receipt, where it has one.' }),
    receipt_id: z.string().nullable().openapi({ description: 'The id that the receipt gives itself.' }),
    checks: z
      .array(
        z.object({
          name: z.string().openapi({ description: 'Stable.', pattern: '^[a-z][a-z0-9_]*$' }),
          ok: z.boolean().nullable().openapi({ description: 'Null where it could not be checked.' }),
          detail: z.string().openapi({ description: 'What was found, in words.' }),
        }),
      )
      .openapi({ description: 'Every check that was made, in order.' }),
    evidence: z
      .object({
        verified: count.openapi({ description: 'Leaves of receipts that were given whole and are valid.' }),
        logged: count.openapi({ description: 'Other leaves whose hashes are in a log that is trusted.' }),
        hashed: count.openapi({ description: 'Leaves of hashes of which nothing more is known.' }),
        trusted: count.openapi({ description: 'Verified receipts of a trusted issuer.' }),
        issued_in_window: count.openapi({
          description: 'Verified receipts that were issued in the window of the bill.',
        }),
      })
      .optional()
      .openapi({
        description:
          'Only for a metering receipt whose evidence was given: the number of leaves of each class (each leaf counts once), how many of the verified receipts are trusted, and how many were issued in the window of the bill.',
      }),
    verified_at: timestamp.openapi({ description: 'When this verdict was reached.' }),
  })
  .openapi('Verification', { description: 'The verdict on a receipt (spec/verification.md).' });

const pendingSchema = z
  .object({
    anchor_ref: z.string().openapi({
      description: 'The pending reference.',
      pattern: '^urn:anchor:pending:',
      example: 'urn:anchor:pending:2027-03-01T13:00Z:rs',
    }),
    batch_id: z.string().openapi({
      description: 'The scheduled posting, to the minute (UTC).',
      pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\dZ$`,
    }),
    eta_seconds: count.openapi({ description: 'Seconds until then; 0 if the posting is overdue.' }),
  })
  .openapi('PendingAnchor', { description: 'A hash that is in the log and waits for its posting.' });

const anchoredSchema = z
  .object({
    anchor_ref: z
      .string()
      .openapi({ description: 'The anchored reference.', pattern: '^urn:anchor:(?!pending:)' }),
    network: z.string().openapi({ description: 'The name of the chain.' }),
    block_height: count.openapi({ description: 'The block of the posting.' }),
    tx_hash: txHash.openapi({ description: 'The transaction of the posting.' }),
    merkle_root: digestText.openapi({ description: 'The root that was posted.' }),
    merkle_path: z.array(digestText).openapi({ description: 'From the leaf’s sibling to the root’s child.' }),
    verified_at: timestamp.openapi({ description: 'When the posting was seen to be final.' }),
    leaf_index: count.openapi({ description: 'The place of the hash in the log, from 0.' }),
    tree_size: z.int().openapi({ minimum: 1, description: 'Number of leaves that the root is over.' }),
    checkpoint: z.string().openapi({ description: 'The log’s signed note of that root.' }),
  })
  .openapi('AnchoredResult', {
    description: 'The document that verifiers accept as `anchor` and check offline.',
  });

/** Specification 2.9. */
export const anchorResultSchema = z.union([pendingSchema, anchoredSchema]);

/** The filter of a list by the hash that receipts have of a request, with or without its `sha256:`. */
export const hashFilter = (description: string) =>
  z
    .string()
    .regex(/^(?:sha256:)?[0-9a-f]{64}$/, 'Not 64 lower-case hex characters')
    .optional()
    .openapi({ description });

/** A tag that calls are looked for by. */
export const callTag = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}:[^\0]{1,256}$/, 'Not name:value')
    .optional()
    .openapi({ description, example: 'team:search' });
