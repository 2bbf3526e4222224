import { z } from '@hono/zod-openapi';
import {
  canonicalize,
  copyJson,
  didDocument,
  fromBase64url,
  type IssuerDocument,
  KEY_PURPOSES,
  type KeyPurpose,
  readSignedStatement,
  rootFingerprint,
  TallyError,
} from '@tallystick/core';
import { text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { idempotencyClaim, replayOf } from '../http/idempotency.ts';
import { consumeDaily } from '../http/rate-limit.ts';
import type { Services } from '../services.ts';
import { did } from './shapes.ts';

const GROUP = 'Issuers and trust';

/** Who issues, with which keys, and whom to trust (specification 2.9; DESIGN of issuers in docs/architecture.md). */
export function issuerRoutes(services: Services): Endpoint[] {
  return [apply(services), record(services), trust(services), didWeb(services)];
}

const keySchema = z.object({
  key_id: z.string(),
  public_key: z.string(),
  purpose: z.string(),
  state: z.enum(['pending', 'active', 'retired', 'revoked']),
  valid_from: z.string(),
  valid_until: z.string().nullable(),
  revoked: z.object({ at: z.string(), reason: z.string() }).nullable(),
});

const signedStatement = (purpose: z.ZodType<KeyPurpose>) =>
  z.strictObject({
    statement: z.strictObject({
      type: z.literal('svc-issuer-statement-v1'),
      audience: did,
      did,
      sequence: z.int().positive(),
      action: z.enum(['register', 'add_key', 'retire_key', 'revoke_key']),
      key_id: did,
      purpose,
      reason: z.enum(['compromised', 'superseded', 'ceased', 'unspecified']).nullable(),
      at: z.string(),
      signed_by: did,
    }),
    signature: z.string(),
    proof: z.string().nullable(),
  });

const documentSchema = z
  .object({
    type: z.literal('svc-issuer-v1'),
    did: z.string(),
    status: z.enum(['registered', 'verified']),
    sequence: z.number(),
    keys: z.array(keySchema),
    history: z.array(signedStatement(z.enum(KEY_PURPOSES))),
  })
  .openapi('Issuer');

function apply(services: Services): Endpoint {
  const { registry, clients, clock, config, store } = services;
  const quota = { name: 'issuer-statements', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/issuers',
    group: GROUP,
    summary: 'Register an issuer, or change its keys',
    description:
      'A signed statement: `register` proves possession of the first key; adding, retiring and revoking are signed by a current key. `tally keys register` writes it for you; spec/trust.md defines it.',
    availability: 'live',
    headers: {
      'Idempotency-Key': 'For 72 hours, repeating a statement with the same key gives the same record.',
    },
    body: signedStatement(z.literal('receipt')),
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
      const { c, body } = call;
      const signed = readSignedStatement(body);
      const route = '/v1/issuers';
      const claim = idempotencyClaim(c, {
        caller: clients.scope(c),
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
      await consumeDaily(quota, clients.group(c), call, clock());
      return text(await registry.apply(signed, claim), 'application/json', { status });
    },
  });
}

function record({ registry }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/issuers/{file}',
    group: GROUP,
    summary: 'Read an issuer’s record',
    description:
      'At `/.well-known/issuers/<did>.json`. The keys follow from the signed history, which anyone can replay.',
    availability: 'live',
    params: z.object({ file: z.string().max(300).openapi({ example: 'did:svc:acme.json' }) }),
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

function trust({ trust: service }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/trust.json',
    group: GROUP,
    summary: 'The trust bundle',
    description:
      'The issuers, their keys and the periods in which those are valid, signed by the root. Pin the fingerprint of the root at the first fetch, and refuse a bundle that is older, expired or signed by another root, as `tally trust fetch` does.',
    availability: 'live',
    answers: {
      200: {
        description: 'The newest bundle',
        schema: z
          .looseObject({
            type: z.literal('svc-trust-v1'),
            version: z.number(),
            issued_at: z.string(),
            expires_at: z.string(),
            root: z.object({ key_id: z.string(), public_key: z.string() }),
            issuers: z.array(z.object({ did: z.string(), status: z.string(), keys: z.array(keySchema) })),
            sig_b64u: z.string(),
          })
          .openapi('TrustBundle'),
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

function didWeb({ config, issuer }: Services): Endpoint {
  const host = new URL(config.siteUrl).host.replace(':', '%3A');
  return endpoint({
    method: 'get',
    path: '/.well-known/did.json',
    group: GROUP,
    summary: 'Read the service’s did:web document',
    description: 'The receipt keys of the service under its did:web, for clients that resolve that method.',
    availability: 'live',
    answers: {
      200: { description: 'A DID document', contentType: 'application/did+json', schema: z.looseObject({}) },
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
