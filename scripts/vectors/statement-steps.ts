import {
  canonicalBytes,
  type JsonObject,
  type JsonValue,
  type SignedStatement,
  type Signer,
  type StatementFacts,
  signStatement,
  toBase64url,
} from '../../packages/core/src/index.ts';
import { withMember } from './change.ts';
import { ACME_DID, SERVICE_DID } from './stores.ts';

/** Day `day` of January 2026, in Unix milliseconds; `instant` gives it as text. */
export const at = (day: number): number => Date.parse('2026-01-01T00:00:00Z') + (day - 1) * 86_400_000;
export const instant = (day: number): string => `2026-01-0${day}T00:00:00Z`;

/** A signed statement of acme, as plain JSON. */
export async function step(
  sequence: number,
  action: StatementFacts['action'],
  keyId: string,
  signer: Signer,
  more: {
    incoming?: Signer;
    reason?: StatementFacts['reason'];
    at?: number;
    purpose?: StatementFacts['purpose'];
  } = {},
): Promise<JsonObject> {
  const facts = {
    audience: SERVICE_DID,
    did: ACME_DID,
    sequence,
    action,
    keyId,
    at: more.at ?? at(sequence),
  };
  const { reason, purpose } = more;
  const signed = await signStatement(
    { ...facts, ...(reason === undefined ? {} : { reason }), ...(purpose === undefined ? {} : { purpose }) },
    signer,
    more.incoming,
  );
  return plain(signed);
}

const plain = ({ statement, signature, proof }: SignedStatement): JsonObject => ({
  statement: { ...statement },
  signature,
  proof,
});

/** The statement after a change, signed again. */
export async function resigned(
  signed: JsonObject,
  path: string,
  value: JsonValue,
  signer: Signer,
  incoming?: Signer,
): Promise<JsonObject> {
  const changed = withMember(signed, `statement.${path}`, value);
  const bytes = canonicalBytes(changed.statement ?? null);
  const proof = incoming === undefined ? (changed.proof ?? null) : toBase64url(await incoming.sign(bytes));
  return { ...changed, signature: toBase64url(await signer.sign(bytes)), proof };
}

export const keyRecord = (signer: Signer, from: number, changes: JsonObject = {}): JsonObject => ({
  key_id: signer.keyId,
  public_key: toBase64url(signer.publicKey),
  purpose: 'receipt',
  state: 'active',
  valid_from: instant(from),
  valid_until: null,
  revoked: null,
  ...changes,
});

export const recordOf = (history: readonly JsonObject[], keys: readonly JsonObject[]): JsonObject => ({
  type: 'svc-issuer-v1',
  did: ACME_DID,
  status: 'registered',
  sequence: history.length,
  keys: [...keys],
  history: [...history],
});
