import { z } from '@hono/zod-openapi';
import { API_KEY_ERRORS, acceptHashes } from '@tallystick/callers';
import {
  fromBase64url,
  parseCheckpointText,
  parseNote,
  parseTlogProof,
  secondsOf,
  sha256,
  TallyError,
  toBase64url,
  toHex,
} from '@tallystick/core';
import { encodeCbor, signCoseReceipt } from '@tallystick/core/cose';
import { openSignedStatement } from '@tallystick/core/foreign';
import type { Leaf } from '@tallystick/log';
import type { Answer } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { named } from './anchor.ts';
import { readHash } from './hash-text.ts';

type Needs = Pick<Services, 'callers' | 'clock' | 'config' | 'issuer' | 'log' | 'trust'>;

const COSE = 'application/cose';
const CBOR = 'application/cbor';

/** Most bytes of a Signed Statement. */
const MAX_STATEMENT = 1_048_576;

const binary = z.string().openapi({ format: 'binary' });
const KEY_AGE = 'public, max-age=300';

/** The log as tools for COSE and SCITT see it (RFC 9942, RFC 9943, draft-ietf-scitt-scrapi). */
export function coseRoutes(services: Needs): Endpoint[] {
  return [receipt(services), register(services), entry(services), keys(services), key(services)];
}

function receipt(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/anchor/{anchor_ref}/receipt.cbor',
    operationId: 'getCoseReceipt',
    group: 'Anchor',
    summary: 'Read the COSE Receipt of an anchor',
    description:
      'A COSE Receipt of inclusion (RFC 9942) in the newest checkpoint, signed by the service’s key of purpose `cose`. The entry that it is about is the 32-byte hash. A checkpoint covers a hash about a second after it was accepted; until then there is no receipt. Needs no key.',
    availability: 'live',
    params: z.object({
      anchor_ref: z.string().openapi({
        description: 'A pending or an anchored reference, or the hash itself in base64url.',
        example: 'urn:anchor:pending:2027-03-01T13:00Z:0',
      }),
    }),
    answers: { 200: { description: 'The receipt', contentType: COSE, schema: binary } },
    errors: ['anchor_ref_invalid', 'invalid_base64url', 'anchor_not_found', 'unavailable'],
    async handle({ params: { anchor_ref } }) {
      const leaf = anchor_ref.startsWith('urn:')
        ? await named(services.log, anchor_ref)
        : await services.log.find(readHash(anchor_ref, 'anchor_ref'));
      return cose(await receiptOf(services, leaf), 200, {});
    },
  });
}

function register(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/entries',
    operationId: 'registerStatement',
    credentials: ['apiKey'],
    group: 'SCITT',
    summary: 'Register a Signed Statement',
    description:
      'Checks the statement’s signature, takes its SHA-256 into the log, and drops the statement: keep it. Its key must be a did:key, in `kid` or as issuer, or a key of a registered issuer, and the issuer’s own if the issuer names one; its payload must be attached. The answer is its COSE Receipt, whose entry is that hash; if no checkpoint covers it at once, it is a redirection to where the receipt will be.',
    availability: 'live',
    headers: { Authorization: '`Bearer` and an API key.' },
    admit: (call) => services.callers.admit(call, 'apiKey'),
    stream: {
      mediaType: COSE,
      description: 'A Signed Statement (RFC 9943): a COSE_Sign1 with the tag 18, of at most 1 MiB.',
      async handle(call) {
        const statement = await readStatement(call.chunks);
        await openSignedStatement(statement, (name) => keysNamed(services, name));
        const hash = sha256(statement);
        await acceptHashes(services, call.admitted, call, [hash]);
        const location = locationOf(services, hash);
        const leaf = await services.log.find(hash);
        const made = await receiptIfCovered(services, leaf);
        return made === null ? later(303, location) : cose(made, 201, { location });
      },
    },
    answers: {
      201: {
        description: 'Registered: its receipt',
        contentType: COSE,
        schema: binary,
        headers: { Location: 'Where the receipt can be read again.' },
      },
      303: {
        description: 'Accepted; its receipt will be at `Location`',
        headers: { Location: 'Where the receipt will be.', 'Retry-After': 'Seconds until it is there.' },
      },
    },
    errors: [
      ...API_KEY_ERRORS,
      'quota_exceeded',
      'unsupported_media_type',
      'body_too_large',
      'request_timeout',
      'client_closed',
      'cose_invalid',
      'statement_unverified',
      'anchor_unavailable',
      'unavailable',
    ],
    handle() {
      throw new TallyError('unsupported_media_type', `Send the statement with Content-Type: ${COSE}.`);
    },
  });
}

/** The keys that sign now under the name of a registered issuer or of a key; undefined if it names neither. */
async function keysNamed({ trust, clock }: Needs, name: string): Promise<Uint8Array[] | undefined> {
  const known = await trust.forReceipt({ issuer_did: name });
  const named = known.issuer(name)?.keys ?? known.key(name);
  if (named === undefined) return undefined;
  const now = Math.floor(clock() / 1000);
  return [named]
    .flat()
    .filter(
      ({ purpose, state, revoked, valid_from, valid_until }) =>
        purpose === 'receipt' &&
        state !== 'pending' &&
        revoked === null &&
        secondsOf(valid_from) <= now &&
        (valid_until === null || now < secondsOf(valid_until)),
    )
    .map(({ public_key }) => fromBase64url(public_key, 32));
}

function entry(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/entries/{entry_id}',
    operationId: 'getStatementReceipt',
    group: 'SCITT',
    summary: 'Read the receipt of a registered statement',
    description:
      'A fresh COSE Receipt, over the newest checkpoint. The id is the SHA-256 of the statement in base64url.',
    availability: 'live',
    params: z.object({
      entry_id: z.string().openapi({
        description: 'SHA-256 of the Signed Statement, base64url.',
        example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
      }),
    }),
    answers: {
      200: {
        description: 'The receipt',
        contentType: COSE,
        schema: binary,
        headers: { Location: 'The same address.' },
      },
      302: {
        description: 'No checkpoint covers it yet',
        headers: { Location: 'The same address.', 'Retry-After': 'Seconds until it is there.' },
      },
    },
    errors: ['invalid_base64url', 'anchor_not_found', 'unavailable'],
    async handle({ params }) {
      const hash = readHash(params.entry_id, 'entry_id');
      const location = locationOf(services, hash);
      const made = await receiptIfCovered(services, await services.log.find(hash));
      return made === null ? later(302, location) : cose(made, 200, { location });
    },
  });
}

function keys({ issuer }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/scitt-keys',
    operationId: 'listCoseKeys',
    group: 'SCITT',
    summary: 'Read the keys of COSE Receipts',
    description:
      'A COSE Key Set (RFC 9052, section 7) of all keys that ever signed receipts and are not revoked. Whoever pins the trust bundle needs it not: the bundle names the same keys.',
    availability: 'live',
    answers: { 200: { description: 'The keys', contentType: CBOR, schema: binary } },
    handle: () => cbor(coseKeys(issuer).map(({ coseKey }) => coseKey)),
  });
}

function key({ issuer }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/.well-known/scitt-keys/{kid}',
    operationId: 'getCoseKey',
    group: 'SCITT',
    summary: 'Read a key of COSE Receipts',
    description: 'The COSE Key whose name a receipt gives in `kid`.',
    availability: 'live',
    params: z.object({
      kid: z
        .string()
        .openapi({ description: 'The bytes of `kid` in base64url.', example: 'ZGlkOmtleTp6Nk1r' }),
    }),
    answers: { 200: { description: 'The key', contentType: CBOR, schema: binary } },
    errors: ['not_found'],
    handle({ params }) {
      const found = coseKeys(issuer).find(({ kid }) => toBase64url(kid) === params.kid);
      if (found === undefined) throw new TallyError('not_found', 'No key of COSE Receipts has this name.');
      return cbor(found.coseKey);
    },
  });
}

interface NamedKey {
  readonly kid: Uint8Array;
  readonly coseKey: ReadonlyMap<number, unknown>;
}

/** The keys as RFC 9052, section 7 and RFC 9053, section 7.2 have them: kty 1 is OKP, crv 6 Ed25519. */
function coseKeys({ keyring }: Needs['issuer']): readonly NamedKey[] {
  return keyring.document.keys
    .filter(({ purpose, revoked }) => purpose === 'cose' && revoked === null)
    .map(({ key_id, public_key }) => {
      const kid = new TextEncoder().encode(key_id);
      const coseKey = new Map<number, unknown>([
        [1, 1],
        [2, kid],
        [3, -8],
        [-1, 6],
        [-2, fromBase64url(public_key, 32)],
      ]);
      return { kid, coseKey };
    });
}

/** @throws anchor_not_found until a checkpoint covers the leaf */
async function receiptOf({ log, issuer }: Needs, leaf: Leaf): Promise<Uint8Array<ArrayBuffer>> {
  const { index, path, checkpoint } = parseTlogProof(await log.tlogProof(leaf));
  const { size, root } = parseCheckpointText(parseNote(checkpoint).text);
  const claims = { issuer: issuer.did, subject: `sha256:${toHex(leaf.hash)}` };
  return signCoseReceipt({ index, size, path }, root, claims, issuer.signer('cose'));
}

async function receiptIfCovered(services: Needs, leaf: Leaf): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return await receiptOf(services, leaf);
  } catch (error) {
    if (error instanceof TallyError && error.code === 'anchor_not_found') return null;
    throw error;
  }
}

async function readStatement(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_STATEMENT)
      throw new TallyError('body_too_large', `A statement has at most ${MAX_STATEMENT} bytes here.`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

const locationOf = ({ config }: Needs, hash: Uint8Array): string =>
  `${config.receiptsUrl}/entries/${toBase64url(hash)}`;

const cose = (
  body: Uint8Array<ArrayBuffer>,
  status: number,
  headers: Readonly<Record<string, string>>,
): Answer => ({ status, body, contentType: COSE, headers: { 'cache-control': 'no-store', ...headers } });

const cbor = (value: unknown): Answer => ({
  status: 200,
  body: encodeCbor(value),
  contentType: CBOR,
  headers: { 'cache-control': KEY_AGE },
});

const later = (status: 302 | 303, location: string): Answer => ({
  status,
  body: null,
  contentType: null,
  headers: { location, 'retry-after': '1', 'cache-control': 'no-store' },
});
