import { timingSafeEqual } from 'node:crypto';
import { formatTimestamp, TallyError } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import { type Received, Refusal } from '@tallystick/kit';
import {
  apiKeyHasher,
  looksLikeApiKey,
  looksLikeOperatorKey,
  newOperatorKey,
  newOperatorKeyId,
} from './api-key.ts';
import { bearerOf, hasherOf } from './credentials.ts';

/** A key of an operator as it is kept: never the key itself. Times are unix seconds. */
export interface OperatorKeyRow {
  /** Public name of the key, for lists and logs: `opk_` and 16 random base36 characters. */
  readonly id: string;
  /** Hex HMAC-SHA256 of the key. Unique. */
  readonly hash: string;
  /** Who has it, or what for. */
  readonly label: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** Keys of operators. Durability, ordering and errors are those of `Store`. */
export interface OperatorKeyStore {
  /** @throws where the id or hash is taken */
  put(row: OperatorKeyRow): Promise<void>;
  /** By the key's hash, revoked ones too. */
  find(hash: string): Promise<OperatorKeyRow | null>;
  /** Revokes by id. A key that is revoked keeps its time. */
  revoke(id: string, at: number): Promise<'revoked' | 'already_revoked' | 'unknown'>;
  /** Oldest first, revoked ones too. */
  list(): Promise<OperatorKeyRow[]>;
}

type Keys = { readonly operatorKeys: OperatorKeyStore };

/** A key of an operator as lists show it. */
export interface OperatorKeyListing {
  readonly id: string;
  readonly label: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/**
 * Makes a key of an operator, which works at once on every server of the store. The key is shown here and never again.
 * @param secret the keyring's `apiKeySecret`
 * @param now Unix milliseconds
 */
export async function createOperatorKey(
  { operatorKeys }: Keys,
  secret: Uint8Array,
  { label, now }: { readonly label: string | null; readonly now: number },
): Promise<{ id: string; key: string }> {
  const key = newOperatorKey();
  const id = newOperatorKeyId();
  const hash = apiKeyHasher(secret)(key);
  await operatorKeys.put({ id, hash, label, createdAt: Math.floor(now / 1000), revokedAt: null });
  return { id, key };
}

/** All keys of operators, revoked ones too, oldest first. */
export async function listOperatorKeys({ operatorKeys }: Keys): Promise<OperatorKeyListing[]> {
  return (await operatorKeys.list()).map(({ id, label, createdAt, revokedAt }) => ({
    id,
    label,
    created_at: formatTimestamp(createdAt * 1000),
    revoked_at: revokedAt === null ? null : formatTimestamp(revokedAt * 1000),
  }));
}

/** Revokes a key by its id, from the next request on. @throws api_key_invalid where there is none of that id */
export async function revokeOperatorKey({ operatorKeys }: Keys, id: string, now: number): Promise<void> {
  if ((await operatorKeys.revoke(id, Math.floor(now / 1000))) !== 'unknown') return;
  throw new TallyError('api_key_invalid', `There is no operator key with the id ${id}.`, { field: 'id' });
}

/** The codes with which a request for an operator's key is refused. */
export const OPERATOR_ERRORS = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'operator_only',
] as const;

/** The request header of the operator's routes, for the reference. */
export const OPERATOR_HEADERS = { Authorization: 'Required: `Bearer` and an operator key, `k_op_…`.' };

/** Lets operators in. Each request looks the key up, so that a revocation holds from the next one on. */
export type AdmitOperator = (received: Received) => Promise<{ readonly id: string }>;

/**
 * A key of a caller is refused unread. The key is found by its HMAC, so the time that this takes says nothing about it.
 * The function throws `OPERATOR_ERRORS`, with `WWW-Authenticate`.
 */
export function operatorGate({
  store,
  issuer,
}: {
  readonly store: Keys;
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
}): AdmitOperator {
  const hash = hasherOf(issuer);
  return async ({ incoming }) => {
    const key = bearerOf(incoming.header('authorization'));
    if (key === null) {
      const message = 'This needs an operator key: send it as Authorization: Bearer k_op_….';
      throw new Refusal('api_key_missing', message, { bearer: 'missing' });
    }
    if (looksLikeApiKey(key) && !looksLikeOperatorKey(key)) {
      const message =
        'This is for operators only, and the key sent is a caller’s. Make one with: tally operator-key create';
      throw new Refusal('operator_only', message, { bearer: 'insufficient_scope' });
    }
    const hashed = hash(key);
    const row = hashed === null ? null : await store.operatorKeys.find(hashed);
    if (row === null || hashed === null || !isSameHash(row.hash, hashed)) {
      const message = 'This service does not know the operator key. Check that it is complete.';
      throw new Refusal('api_key_invalid', message, { bearer: 'invalid_token' });
    }
    incoming.tell({ key: row.id });
    if (row.revokedAt !== null) {
      const message = `The operator key ${row.id} was revoked.`;
      throw new Refusal('api_key_revoked', message, { bearer: 'invalid_token' });
    }
    return { id: row.id };
  };
}

function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Where changes are written. */
interface KeyLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** Writes to the service's log which keys of operators are made and revoked, whoever does it with the database. */
export class OperatorKeyWatch {
  readonly #store: Keys;
  readonly #logger: KeyLog;
  /** Whether each key was good when it was last looked at; null before the first look. */
  #known: ReadonlyMap<string, boolean> | null = null;

  constructor(store: Keys, logger: KeyLog) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Compares the keys with those of the last look. */
  async look(): Promise<void> {
    const rows = await this.#store.operatorKeys.list();
    const now = new Map(rows.map(({ id, revokedAt }) => [id, revokedAt === null]));
    const before = this.#known;
    this.#known = now;
    if (before === null) {
      const good = [...now].flatMap(([id, isGood]) => (isGood ? id : []));
      if (good.length > 0) this.#logger.info({ operatorKeys: good }, 'keys of operators are in force');
      return;
    }
    for (const [id, isGood] of now) {
      if (!before.has(id)) this.#logger.warn({ operatorKey: id }, 'a key of an operator was made');
      if (!isGood && before.get(id) !== false)
        this.#logger.warn({ operatorKey: id }, 'a key of an operator was revoked');
    }
  }
}
