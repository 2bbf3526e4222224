import { z } from '@hono/zod-openapi';
import { consumeDaily } from '@tallystick/callers';
import {
  canonicalize,
  copyJson,
  didDocument,
  fromBase64url,
  type IssuerDocument,
  KEY_PURPOSES,
  readSignedStatement,
  rootFingerprint,
  TallyError,
} from '@tallystick/core';
import { publishedTrust } from '@tallystick/issuers';
import { idempotencyClaim, replayOf } from '@tallystick/kit';
import { text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { did, didText, publicKeyText, signatureText, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'store' | 'issuer' | 'trust' | 'registry' | 'clients'>;

const GROUP = 'Issuers and trust';

/** Issuers, their keys, and the trust bundle (specification 2.9; docs/architecture.md). */
export function issuerRoutes(services: Needs): Endpoint[] {
  return [apply(services), record(services), trust(services), earlierTrust(services), didWeb(services)];
}

const keyTimes = {
  state: z
    .enum(['pending', 'active', 'retired', 'revoked'])
    .openapi({ description: 'What may be made of it now.' }),
  valid_from: timestamp.openapi({ description: 'From when its signatures count.' }),
  valid_until: timestamp
    .nullable()
    .openapi({ description: 'Until when, exclusive; null while there is no end.' }),
  revoked: z
    .object({
      at: timestamp.openapi({ description: 'When it was revoked.' }),
      reason: z
        .enum(['compromised', 'superseded', 'ceased', 'unspecified'])
        .openapi({ description: 'Why it was revoked.' }),
    })
    .nullable()
    .openapi({ description: 'Null while it is not revoked.' }),
};

const keySchema = z
  .object({
    key_id: didText.openapi({ description: 'The id of the key.', example: 'did:svc:acme:key-1' }),
    public_key: publicKeyText,
    purpose: z.string().openapi({ description: 'What the key signs.', examples: [...KEY_PURPOSES] }),
    ...keyTimes,
  })
  .openapi('IssuerKey', { description: 'A key of an issuer, and when its signatures count.' });

const pqKeySchema = z
  .object({
    alg: z.string().openapi({ description: 'The algorithm.', example: 'ML-DSA-65' }),
    key_id: z.string().openapi({ description: '`sha256:` and the SHA-256 of the public key, in hex.' }),
    public_key: z.string().openapi({ description: '1,952 bytes, base64url without padding.' }),
    ...keyTimes,
  })
  .openapi('IssuerPqKey', {
    description: 'A key for second signatures of pq receipts, which are experimental.',
  });

const signedStatement = (purpose: z.ZodType<string>) =>
  z.strictObject({
    statement: z
      .strictObject({
        type: z.literal('svc-issuer-statement-v1').openapi({ description: 'Always this.' }),
        audience: did.openapi({
          description: 'The DID of the service that it is for.',
          example: 'did:svc:local',
        }),
        did: did.openapi({ description: 'The issuer.', example: 'did:svc:acme' }),
        sequence: z
          .int()
          .positive()
          .openapi({ description: 'The number of the issuer’s statement, from 1.' }),
        action: z
          .enum(['register', 'add_key', 'retire_key', 'revoke_key'])
          .openapi({ description: 'What is to be done.' }),
        key_id: did.openapi({ description: 'The key that it is done with, as a did:key.' }),
        purpose: purpose.openapi({ description: 'What the key signs.' }),
        reason: z
          .enum(['compromised', 'superseded', 'ceased', 'unspecified'])
          .nullable()
          .openapi({ description: 'Why a key is revoked; null for any other action.' }),
        at: z.string().openapi({
          format: 'date-time',
          description: 'When the statement was made.',
          example: '2027-03-01T12:00:00Z',
        }),
        signed_by: did.openapi({ description: 'The key that signs the statement.' }),
      })
      .openapi({ description: 'What is signed, as JCS (RFC 8785).' }),
    signature: z.string().openapi({
      pattern: '^[A-Za-z0-9_-]{85}[AQgw]$',
      description: 'Ed25519 by `signed_by`: 64 bytes, base64url without padding.',
    }),
    proof: z.string().nullable().openapi({
      pattern: '^[A-Za-z0-9_-]{85}[AQgw]$',
      description: 'The same by a key that is added, to prove its possession; else null.',
    }),
  });

const documentSchema = z
  .object({
    type: z.literal('svc-issuer-v1').openapi({ description: 'Always this.' }),
    did: didText.openapi({ description: 'The issuer.' }),
    status: z
      .enum(['registered', 'verified'])
      .openapi({ description: 'Whether the operator has verified who it is.' }),
    sequence: z.int().openapi({ description: 'The number of its newest statement.' }),
    keys: z.array(keySchema).openapi({ description: 'Its keys.' }),
    history: z
      .array(signedStatement(z.string()))
      .openapi({ description: 'Every statement, oldest first; the keys follow from them.' }),
  })
  .openapi('Issuer', { description: 'The record of an issuer (spec/trust.md).' });

/** A real registration. Its statement was valid for a few minutes only. */
const EXAMPLE = {
  statement: {
    type: 'svc-issuer-statement-v1',
    audience: 'did:svc:local',
    did: 'did:svc:acme',
    sequence: 1,
    action: 'register',
    key_id: 'did:key:z6Mkp2GQ53nNQ8RTMcGY6KMN4fstXUuLBpcGPn8E8zyHW7PV',
    purpose: 'receipt',
    reason: null,
    at: '2027-03-01T12:00:00Z',
    signed_by: 'did:key:z6Mkp2GQ53nNQ8RTMcGY6KMN4fstXUuLBpcGPn8E8zyHW7PV',
  },
  signature: 'WyG1lPEJJHAJCUValEs56CzDvRKIz2gLCt6aZnTVhh9MZ51rzXavJhzk2zvsDjHskpskJE3-w5e544PXRhrcDQ',
  proof: null,
};

function apply(services: Needs): Endpoint {
  const { registry, clients, clock, config, store } = services;
  const quota = { name: 'issuer-statements', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/issuers',
    operationId: 'submitIssuerStatement',
    group: GROUP,
    summary: 'Register an issuer, or change its keys',
    description:
      'A signed statement: `register` proves possession of the first key; adding, retiring and revoking are signed by a current key. `tally keys register` writes it for you; spec/trust.md defines it.',
    availability: 'live',
    headers: {
      'Idempotency-Key': 'For 72 hours, repeating a statement with the same key gives the same record.',
    },
    body: signedStatement(z.literal('receipt')),
    example: EXAMPLE,
    answers: {
      200: { description: 'The record after the change', schema: documentSchema },
      201: { description: 'The record of the new issuer', schema: documentSchema },
    },
    errors: [
      'issuer_exists',
      'issuer_not_found',
      'issuer_conflict',
      'issuer_proof_invalid',
      'invalid_did',
      'invalid_base64url',
      'rate_limited',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'unavailable',
    ],
    async handle(call) {
      const { incoming, body } = call;
      const signed = readSignedStatement(body);
      const route = '/v1/issuers';
      const claim = idempotencyClaim(incoming, {
        caller: clients.scope(incoming),
        route,
        body,
        now: clock(),
      });
      const status = signed.statement.action === 'register' ? 201 : 200;
      const earlier = await replayOf(store, claim, clock());
      if (earlier !== null) {
        return text(earlier.response, 'application/json', {
          status,
          headers: { 'idempotency-replayed': 'true' },
        });
      }
      await consumeDaily(quota, clients.group(incoming), call, clock());
      return text(await registry.apply(signed, claim), 'application/json', { status });
    },
  });
}

function record({ registry }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/issuers/{file}',
    operationId: 'getIssuer',
    group: GROUP,
    summary: 'Read an issuer’s record',
    description:
      'At `/.well-known/issuers/<did>.json`. The keys follow from the signed history, which anyone can replay.',
    availability: 'live',
    params: z.object({
      file: z
        .string()
        .max(300)
        .openapi({ description: 'The DID of the issuer, and `.json`.', example: 'did:svc:acme.json' }),
    }),
    answers: { 200: { description: 'The record', schema: documentSchema } },
    errors: ['issuer_not_found'],
    async handle({ params: { file } }) {
      const document = file.endsWith('.json')
        ? await registry.document(file.slice(0, -'.json'.length))
        : null;
      if (document === null) {
        throw new TallyError(
          'issuer_not_found',
          'No issuer with that DID is registered with this service. The path is <did>.json.',
        );
      }
      return text(canonicalize(copyJson(document)), 'application/json');
    },
  });
}

const bundleSchema = z
  .looseObject({
    type: z.literal('svc-trust-v1').openapi({ description: 'Always this.' }),
    version: z.int().openapi({ minimum: 1, description: 'Each bundle has a higher one.' }),
    issued_at: timestamp.openapi({ description: 'When it was signed.' }),
    expires_at: timestamp.openapi({ description: 'From then on it is refused.' }),
    root: z
      .object({
        key_id: didText.openapi({ description: 'The id of the root key.' }),
        public_key: publicKeyText,
      })
      .openapi({ description: 'The key that signs the bundle.' }),
    issuers: z
      .array(
        z.object({
          did: didText.openapi({ description: 'The issuer.' }),
          status: z
            .enum(['registered', 'verified'])
            .openapi({ description: 'Whether the operator has verified who it is.' }),
          keys: z.array(keySchema).openapi({ description: 'Its keys.' }),
          pq_keys: z
            .array(pqKeySchema)
            .optional()
            .openapi({ description: 'Its keys for second signatures; absent if it has none.' }),
        }),
      )
      .openapi({ description: 'The issuers.' }),
    sig_b64u: signatureText,
  })
  .openapi('TrustBundle', { description: 'Whom to trust, signed by the root (spec/trust.md).' });

function trust({ trust: service }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/trust.json',
    operationId: 'getTrustBundle',
    group: GROUP,
    summary: 'The trust bundle',
    description:
      'The issuers, their keys and the periods in which those are valid, signed by the root. Pin the fingerprint of the root at the first fetch, and refuse a bundle that is older, expired or signed by another root, as `tally trust fetch` does.',
    availability: 'live',
    answers: {
      200: {
        description: 'The newest bundle',
        schema: bundleSchema,
        headers: {
          'X-Root-Fingerprint':
            'SHA-256 of the root’s public key, to compare with the fingerprint that you pinned.',
        },
      },
    },
    errors: ['trust_unavailable'],
    handle() {
      const published = service.bundle();
      if (published === null) {
        throw new TallyError('trust_unavailable', 'No trust bundle has been published on this service yet.');
      }
      const root = rootFingerprint(fromBase64url(published.bundle.root.public_key, 32));
      return text(published.text, 'application/json', { headers: { 'x-root-fingerprint': root } });
    },
  });
}

function earlierTrust({ store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/trust/{file}',
    operationId: 'getTrustVersion',
    group: GROUP,
    summary: 'A trust bundle of before',
    description:
      'At `/.well-known/trust/<version>.json`, byte for byte as it was published. Each bundle names the SHA-256 of the one before in `previous_sha256`; `tally trust audit` follows them.',
    availability: 'live',
    params: z.object({
      file: z.string().max(40).openapi({ description: 'The version, and `.json`.', example: '1.json' }),
    }),
    answers: { 200: { description: 'The bundle', schema: bundleSchema } },
    errors: ['trust_not_found'],
    async handle({ params: { file } }) {
      const [, version] = /^([1-9]\d{0,14})\.json$/.exec(file) ?? [];
      const bundle = version === undefined ? null : await publishedTrust(store, Number(version));
      if (bundle === null) {
        throw new TallyError(
          'trust_not_found',
          'This service keeps no trust bundle of that version. The path is <version>.json.',
        );
      }
      return text(bundle, 'application/json');
    },
  });
}

const didDocumentSchema = z
  .looseObject({
    id: didText.openapi({ description: 'The did:web of the service.' }),
    alsoKnownAs: z.array(didText).openapi({ description: 'Its did:svc.' }),
    verificationMethod: z
      .array(z.looseObject({ id: z.string().openapi({ description: 'The id of the key.' }) }))
      .openapi({ description: 'The keys.' }),
  })
  .openapi('DidDocument', { description: 'A DID document (W3C DID Core).' });

function didWeb({ config, issuer }: Needs): Endpoint {
  const host = new URL(config.siteUrl).host.replace(':', '%3A');
  return endpoint({
    method: 'get',
    path: '/.well-known/did.json',
    operationId: 'getDidDocument',
    group: GROUP,
    summary: 'Read the service’s did:web document',
    description: 'The receipt keys of the service under its did:web, for clients that resolve that method.',
    availability: 'live',
    answers: {
      200: { description: 'A DID document', contentType: 'application/did+json', schema: didDocumentSchema },
    },
    handle() {
      const { keys }: IssuerDocument = issuer.keyring.document;
      const usable = keys.filter(({ purpose, state }) => purpose === 'receipt' && state !== 'revoked');
      const document = didDocument({
        did: `did:web:${host}`,
        keys: usable.map(({ key_id, public_key }) => ({
          keyId: key_id,
          publicKey: fromBase64url(public_key, 32),
        })),
      });
      const named = { ...document, alsoKnownAs: [issuer.did] };
      return text(JSON.stringify(named), 'application/did+json');
    },
  });
}
