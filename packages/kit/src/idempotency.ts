import { hash } from 'node:crypto';
import { canonicalize, type JsonValue, TallyError } from '@tallystick/core';
import type { Incoming } from './incoming.ts';
import type { IdempotencyRecord, Repeated } from './records.ts';
import { Refusal } from './refusal.ts';

/** How long a key is remembered, in seconds: long enough for a retry queue that stood still over a weekend. */
const TTL_SECONDS = 72 * 60 * 60;

/** Reads earlier answers. */
export interface IdempotencyReader {
  /** The answer to an earlier request under this scope, or null where no record is live at `now` (unix seconds). */
  findIdempotent(scope: string, requestHash: string, now: number): Promise<Repeated | null>;
}

/** The parts of a request's idempotency record. */
export interface IdempotentRequest {
  /** The caller, as `Clients.scope` names it: the same key of another caller is another key. */
  readonly caller: string;
  readonly route: string;
  readonly profile?: string;
  readonly body: JsonValue;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * The request's `Idempotency-Key`, or undefined. A route that always gives the same answer needs no more than this
 * check.
 * @throws idempotency_key_invalid unless the key is 1 to 255 visible ASCII characters
 */
export function idempotencyKey({ idempotencyKey: key }: Incoming): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new TallyError(
    'idempotency_key_invalid',
    'An Idempotency-Key must have 1 to 255 visible ASCII characters.',
  );
}

/**
 * The record of a request that carries an `Idempotency-Key`, else undefined. Its scope is SHA-256 over JCS of
 * [caller, route, key]; its request hash is SHA-256 over JCS of all that decides the answer: route, profile,
 * `X-Agent-DID` and body.
 *
 * @throws idempotency_key_invalid unless the key is 1 to 255 visible ASCII characters
 */
export function idempotencyClaim(
  incoming: Incoming,
  request: IdempotentRequest,
): IdempotencyRecord | undefined {
  const key = idempotencyKey(incoming);
  if (key === undefined) return undefined;
  const { caller, route, now } = request;
  return {
    scope: jcsHash([caller, route, key]),
    requestHash: requestHash(incoming, request),
    expiresAt: Math.floor(now / 1_000) + TTL_SECONDS,
  };
}

/** SHA-256 over JCS of all that decides the answer: route, profile, `X-Agent-DID` and body. */
export function requestHash(
  incoming: Incoming,
  { route, profile, body }: Pick<IdempotentRequest, 'route' | 'profile' | 'body'>,
): string {
  return jcsHash({ route, profile: profile ?? null, agent: incoming.header('x-agent-did') ?? null, body });
}

/**
 * The answer to an earlier request under the same claim, or null. `now` is in Unix milliseconds.
 * @throws idempotency_key_reused when the key came with another request
 */
export async function replayOf(
  store: IdempotencyReader,
  claim: IdempotencyRecord | undefined,
  now: number,
): Promise<{ response: string } | null> {
  if (claim === undefined) return null;
  const earlier = await store.findIdempotent(claim.scope, claim.requestHash, Math.floor(now / 1_000));
  if (earlier?.kind === 'reused') throw keyReusedError();
  return earlier;
}

/** The refusal of a key that was used with another request. */
export function keyReusedError(): TallyError {
  return new TallyError(
    'idempotency_key_reused',
    'This Idempotency-Key was already used with a different request. Send a fresh key, or the same request.',
  );
}

/** The refusal of a request while another one with its key is under way for longer than it could wait. */
export function keyInUseError(): Refusal {
  return new Refusal(
    'idempotency_key_in_use',
    'Another request with this Idempotency-Key is still being answered. Send the same request again later.',
    { retryAfter: 5 },
  );
}

function jcsHash(value: JsonValue): string {
  return hash('sha256', canonicalize(value));
}
