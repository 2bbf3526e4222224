import { publicKeyOfDidKey } from '../did/key.ts';
import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import {
  constant,
  did,
  type Infer,
  integer,
  isObject,
  keyId,
  nullable,
  object,
  oneOf,
  pattern,
  requireShape,
  signature,
  timestamp,
} from '../receipts/shape.ts';
import { formatTimestamp, secondsOf } from '../time.ts';
import {
  type IssuerKey,
  type IssuerRecord,
  type KeyPurpose,
  keyPurpose,
  REVOCATION_REASONS,
  type RevocationReason,
} from './issuer.ts';

const ISSUER_TYPE = 'svc-issuer-v1';
const STATEMENT_TYPE = 'svc-issuer-statement-v1';

const signedStatementShape = object(
  {
    statement: object(
      {
        type: constant(STATEMENT_TYPE),
        audience: did,
        did: pattern(
          /^did:svc:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
          'did:svc: and a handle of a-z, 0-9 and -',
        ),
        sequence: integer(1),
        action: oneOf('register', 'add_key', 'retire_key', 'revoke_key'),
        /** The did:key that is registered, added, retired or revoked. */
        key_id: keyId,
        purpose: keyPurpose,
        reason: nullable(oneOf(...REVOCATION_REASONS)),
        at: timestamp,
        signed_by: keyId,
      },
      { closed: true },
    ),
    signature,
    proof: nullable(signature),
  },
  { closed: true },
);

/**
 * One step in the life of an issuer's keys. `at` is when it takes effect; `sequence` is its place in the
 * history, from 1, so that a statement can't be replayed; `audience` is the DID of the service it is made to.
 */
export type IssuerStatement = SignedStatement['statement'];

/** A statement with the signature of `signed_by` and, for a new key, the proof that its holder agrees. */
export type SignedStatement = Infer<typeof signedStatementShape>;

/** A published record. Keys and status follow from the history, which anyone can replay. */
export interface IssuerDocument extends IssuerRecord {
  readonly type: typeof ISSUER_TYPE;
  readonly sequence: number;
  readonly history: readonly SignedStatement[];
}

/** Contents of a statement; `at` is Unix milliseconds, and is written in whole seconds. */
export interface StatementFacts {
  readonly audience: string;
  readonly did: string;
  readonly sequence: number;
  readonly action: IssuerStatement['action'];
  readonly keyId: string;
  readonly purpose?: KeyPurpose;
  readonly reason?: RevocationReason;
  readonly at: number;
}

/** Signs a statement with a present key and, where a new key comes in, with that key too. */
export async function signStatement(
  facts: StatementFacts,
  signer: Signer,
  incoming?: Signer,
): Promise<SignedStatement> {
  const statement: IssuerStatement = {
    type: STATEMENT_TYPE,
    audience: facts.audience,
    did: facts.did,
    sequence: facts.sequence,
    action: facts.action,
    key_id: facts.keyId,
    purpose: facts.purpose ?? 'receipt',
    reason: facts.reason ?? null,
    at: formatTimestamp(Math.floor(facts.at / 1000) * 1000),
    signed_by: signer.keyId,
  };
  const bytes = canonicalBytes({ ...statement });
  return {
    statement,
    signature: toBase64url(await signer.sign(bytes)),
    proof: incoming === undefined ? null : toBase64url(await incoming.sign(bytes)),
  };
}

/** Reads a signed statement. @throws invalid_field for missing or malformed members */
export function readSignedStatement(document: unknown): SignedStatement {
  return requireShape(signedStatementShape, copyJson(document));
}

/**
 * The record after one more statement.
 * @param document null before the first statement
 * @throws issuer_exists, issuer_conflict, issuer_proof_invalid, invalid_field
 */
export async function applyStatement(
  document: IssuerDocument | null,
  signed: SignedStatement,
  engine: Ed25519Engine = defaultEngine,
): Promise<IssuerDocument> {
  const { statement } = signed;
  const keys = document?.keys ?? [];
  assertPlace(document, statement);
  if (statement.action !== 'register') assertMaySign(keys, statement);
  await assertProof(engine, statement, statement.signed_by, signed.signature, 'signature');
  if (statement.action === 'add_key') {
    await assertProof(engine, statement, statement.key_id, signed.proof, 'proof');
  } else if (signed.proof !== null) {
    throw wrong('proof', 'Only the statement that adds a key carries a proof.');
  }
  assertChange(
    keys.find(({ key_id }) => key_id === statement.key_id),
    statement,
  );
  return {
    type: ISSUER_TYPE,
    did: statement.did,
    status: document?.status ?? 'registered',
    sequence: statement.sequence,
    keys: changedKeys(keys, statement),
    history: [...(document?.history ?? []), signed],
  };
}

function assertPlace(
  document: IssuerDocument | null,
  { action, did, sequence, key_id, signed_by }: IssuerStatement,
): void {
  if (action === 'register' && document !== null) {
    throw new TallyError('issuer_exists', `${did} is already registered.`, { field: 'statement.did' });
  }
  if (action === 'register' && signed_by !== key_id) {
    throw wrong('statement.signed_by', 'A registration must be signed by the key that it registers.');
  }
  if (action !== 'register' && document === null) {
    throw new TallyError('issuer_not_found', `${did} is not registered yet.`, { field: 'statement.did' });
  }
  if (document !== null && document.did !== did) {
    throw wrong('statement.did', `The record is that of ${document.did}, not of ${did}.`);
  }
  const next = (document?.sequence ?? 0) + 1;
  if (sequence !== next) {
    throw new TallyError(
      'issuer_conflict',
      `The next statement of ${did} is number ${next}, not ${sequence}.`,
      {
        field: 'statement.sequence',
      },
    );
  }
}

/**
 * Refuses a statement, other than a registration, that no active receipt key signed. The time that the signer states (`at`)
 * does not count here, because a key that is no longer active could state any.
 */
function assertMaySign(keys: readonly IssuerKey[], { signed_by }: IssuerStatement): void {
  const signer = keys.find(({ key_id }) => key_id === signed_by);
  if (signer?.purpose !== 'receipt' || signer.state !== 'active') {
    throw new TallyError('issuer_proof_invalid', `${signed_by} is not a current receipt key of the issuer.`, {
      field: 'statement.signed_by',
    });
  }
}

/** Refuses to add a key twice, to retire it twice, or to make a revocation milder or later. */
function assertChange(key: IssuerKey | undefined, { action, key_id, at, reason }: IssuerStatement): void {
  const field = 'statement.key_id';
  if (action === 'register' || action === 'add_key') {
    if (key !== undefined) throw wrong(field, `${key_id} is already in the record.`);
    return;
  }
  if (key === undefined) throw wrong(field, `${key_id} is not in the record.`);
  if (action === 'retire_key' && key.state !== 'active')
    throw wrong(field, `${key_id} is already ${key.state}.`);
  if (action === 'revoke_key' && key.revoked !== null) {
    const milder = key.revoked.reason === 'compromised' && reason !== 'compromised';
    if (milder || secondsOf(at) > secondsOf(key.revoked.at)) {
      throw wrong(
        field,
        `${key_id} was revoked at ${key.revoked.at} (${key.revoked.reason}); a revocation can only become stricter.`,
      );
    }
  }
}

async function assertProof(
  engine: Ed25519Engine,
  statement: IssuerStatement,
  keyId: string,
  proof: string | null,
  field: 'signature' | 'proof',
): Promise<void> {
  const publicKey = publicKeyOfDidKey(keyId);
  const good =
    proof !== null &&
    (await verifyEd25519(engine, publicKey, canonicalBytes({ ...statement }), fromBase64url(proof, 64)));
  if (!good) {
    throw new TallyError(
      'issuer_proof_invalid',
      `${field} is not a signature of ${keyId} over the statement.`,
      {
        field,
      },
    );
  }
}

function changedKeys(keys: readonly IssuerKey[], statement: IssuerStatement): IssuerKey[] {
  const { action, key_id, at } = statement;
  if (action === 'register' || action === 'add_key') {
    const added: IssuerKey = {
      key_id,
      public_key: toBase64url(publicKeyOfDidKey(key_id)),
      purpose: statement.purpose,
      state: 'active',
      valid_from: at,
      valid_until: null,
      revoked: null,
    };
    return [...keys, added];
  }
  return keys.map((key) => {
    if (key.key_id !== key_id) return key;
    if (action === 'retire_key') return { ...key, state: 'retired', valid_until: at };
    return { ...key, state: 'revoked', revoked: { at, reason: statement.reason ?? 'unspecified' } };
  });
}

function wrong(field: string, message: string): TallyError {
  return new TallyError('invalid_field', message, { field });
}

/**
 * Replays a document's history and returns the record, which must be the same.
 * @throws if a step does not follow, or the document differs from its history
 */
export async function checkIssuerDocument(document: unknown): Promise<IssuerDocument> {
  const copy = copyJson(document);
  if (!isObject(copy) || !Array.isArray(copy.history)) throw wrong('history', 'The record has no history.');
  let replayed: IssuerDocument | null = null;
  for (const signed of copy.history) replayed = await applyStatement(replayed, readSignedStatement(signed));
  const claimed = copy.status === 'verified' ? { ...copy, status: 'registered' } : copy;
  if (replayed === null || !sameJson(claimed, copyJson(replayed) as JsonObject)) {
    throw new TallyError('issuer_proof_invalid', 'The record does not match its history.');
  }
  return { ...replayed, status: copy.status === 'verified' ? 'verified' : 'registered' };
}

/**
 * The issuer of a published record, to judge receipts by. A record's status is not signed, so it counts as registered.
 * @throws as `checkIssuerDocument`
 */
export async function registeredIssuer(document: unknown): Promise<IssuerRecord> {
  const { did, keys } = await checkIssuerDocument(document);
  return { did, status: 'registered', keys };
}

function sameJson(a: JsonObject, b: JsonObject): boolean {
  const [left, right] = [canonicalBytes(a), canonicalBytes(b)];
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
