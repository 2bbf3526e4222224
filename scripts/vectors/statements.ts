import type { JsonObject, JsonValue } from '../../packages/core/src/index.ts';
import { textAt, withMember } from './change.ts';
import { withLargeS, withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { at, instant, keyRecord, recordOf, resigned, step } from './statement-steps.ts';
import { ACME_DID } from './stores.ts';

/** A history of signed statements to replay, or a published record to check. */
export interface StatementCase {
  readonly name: string;
  readonly comment: string;
  readonly history?: readonly JsonValue[];
  readonly document?: JsonObject;
  /** The record after the last statement, or the code with which the last statement or the record is refused. */
  readonly expected: { readonly record: JsonObject } | { readonly code: string };
}

const { acme, 'acme-second': second, stranger } = signers;

export async function statementCases(): Promise<StatementCase[]> {
  const register = await step(1, 'register', acme.keyId, acme);
  const add = await step(2, 'add_key', second.keyId, acme, { incoming: second });
  const retire = await step(3, 'retire_key', acme.keyId, second);
  const rotated = [register, add, retire];
  const record = recordOf(rotated, [
    keyRecord(acme, 1, { state: 'retired', valid_until: instant(3) }),
    keyRecord(second, 2),
  ]);
  return [
    ...(await acceptedCases(rotated, record)),
    ...(await badSignatures(register, add)),
    ...(await badSteps(register, add, retire)),
    ...(await badForms(register)),
    ...(await publishedRecords(record)),
  ];
}

async function acceptedCases(
  [register = {}, add = {}, retire = {}]: JsonObject[],
  record: JsonObject,
): Promise<StatementCase[]> {
  const revoke = await step(3, 'revoke_key', acme.keyId, second, { reason: 'compromised', at: at(2) });
  const late = await step(4, 'revoke_key', acme.keyId, second, { reason: 'compromised', at: at(3) });
  const mild = await step(3, 'revoke_key', acme.keyId, second, { reason: 'superseded' });
  const strict = await step(4, 'revoke_key', acme.keyId, second, { reason: 'compromised', at: at(2) });
  const own = await step(2, 'revoke_key', acme.keyId, acme, { reason: 'ceased' });
  const log = await step(2, 'add_key', second.keyId, acme, { incoming: second, purpose: 'log' });
  const accepts = (
    name: string,
    comment: string,
    history: JsonObject[],
    keys: JsonObject[],
  ): StatementCase => ({
    name,
    comment,
    history,
    expected: { record: recordOf(history, keys) },
  });
  const revoked = (day: number, reason: string): JsonObject => ({
    state: 'revoked',
    revoked: { at: instant(day), reason },
  });
  return [
    accepts('registration', 'Signed by the key that it registers.', [register], [keyRecord(acme, 1)]),
    accepts(
      'second key',
      'Signed by a present key, with the proof of the new one.',
      [register, add],
      [keyRecord(acme, 1), keyRecord(second, 2)],
    ),
    {
      name: 'rotation',
      comment: 'The old key retires.',
      history: [register, add, retire],
      expected: { record },
    },
    accepts(
      'compromise dated back',
      'A revocation takes effect when the compromise happened.',
      [register, add, revoke],
      [keyRecord(acme, 1, revoked(2, 'compromised')), keyRecord(second, 2)],
    ),
    accepts(
      'a key revokes itself',
      'It may still say so.',
      [register, own],
      [keyRecord(acme, 1, revoked(2, 'ceased'))],
    ),
    accepts(
      'retired, then revoked',
      'A key that has left may still be revoked.',
      [register, add, retire, late],
      [keyRecord(acme, 1, { ...revoked(3, 'compromised'), valid_until: instant(3) }), keyRecord(second, 2)],
    ),
    accepts(
      'revocation grows stricter',
      'An earlier time, a worse reason.',
      [register, add, mild, strict],
      [keyRecord(acme, 1, revoked(2, 'compromised')), keyRecord(second, 2)],
    ),
    accepts(
      'key of another purpose',
      'It may not sign statements.',
      [register, log],
      [keyRecord(acme, 1), keyRecord(second, 2, { purpose: 'log' })],
    ),
  ];
}

const refused = (name: string, comment: string, history: JsonValue[], code: string): StatementCase => ({
  name,
  comment,
  history,
  expected: { code },
});

async function badSignatures(register: JsonObject, add: JsonObject): Promise<StatementCase[]> {
  const proof = 'issuer_proof_invalid';
  const signature = textAt(register, 'signature');
  const byStranger = await step(2, 'add_key', stranger.keyId, stranger, { incoming: stranger });
  const log = await step(2, 'add_key', second.keyId, acme, { incoming: second, purpose: 'log' });
  return [
    refused(
      'registration of another’s key',
      'No proof of possession.',
      [await resigned(register, 'did', ACME_DID, stranger)],
      proof,
    ),
    refused(
      'registration changed',
      'Another handle than was signed for.',
      [withMember(register, 'statement.did', 'did:svc:acmf')],
      proof,
    ),
    refused(
      'registration to another service',
      'The audience is signed.',
      [withMember(register, 'statement.audience', 'did:svc:other')],
      proof,
    ),
    refused(
      'S + L',
      'S must be below the group order.',
      [{ ...register, signature: withLargeS(signature) }],
      proof,
    ),
    refused(
      'new key without proof',
      'The holder of the new key must want it.',
      [register, { ...add, proof: null }],
      proof,
    ),
    refused(
      'new key with the proof of another',
      'Signed by the present key twice.',
      [register, { ...add, proof: add.signature ?? null }],
      proof,
    ),
    refused('stranger adds its own key', 'It is not a key of the issuer.', [register, byStranger], proof),
    refused(
      'log key adds a key',
      'Only receipt keys sign statements.',
      [register, log, await step(3, 'add_key', stranger.keyId, second, { incoming: stranger })],
      proof,
    ),
  ];
}

async function badSteps(register: JsonObject, add: JsonObject, retire: JsonObject): Promise<StatementCase[]> {
  const proof = 'issuer_proof_invalid';
  const revokeFirst = await step(3, 'revoke_key', acme.keyId, second, { reason: 'compromised' });
  const otherDid = await resigned(add, 'did', 'did:svc:other', acme, second);
  return [
    refused('registration twice', 'The handle is taken.', [register, register], 'issuer_exists'),
    refused('no registration', 'Nothing comes before it.', [add], 'issuer_not_found'),
    refused('statement replayed', 'Its sequence has passed.', [register, add, add], 'issuer_conflict'),
    refused('statement left out', 'Its sequence is not the next.', [register, retire], 'issuer_conflict'),
    refused(
      'registration as number 2',
      'A history starts at 1.',
      [await step(2, 'register', acme.keyId, acme)],
      'issuer_conflict',
    ),
    refused(
      'registration by another key',
      'signed_by must be key_id.',
      [await step(1, 'register', acme.keyId, stranger)],
      'invalid_field',
    ),
    refused(
      'key added twice',
      'It is in the record.',
      [register, await step(2, 'add_key', acme.keyId, acme, { incoming: acme })],
      'invalid_field',
    ),
    refused(
      'unknown key retired',
      'It is not in the record.',
      [register, await step(2, 'retire_key', second.keyId, acme)],
      'invalid_field',
    ),
    refused(
      'retired key signs',
      'At its end it signs no more.',
      [register, add, retire, await step(4, 'revoke_key', second.keyId, acme)],
      proof,
    ),
    refused(
      'revoked key signs',
      'Not even dated back.',
      [register, add, revokeFirst, await step(4, 'retire_key', second.keyId, acme, { at: at(1) })],
      proof,
    ),
    refused(
      'retired key revokes its successor, dated back',
      'The present decides, not what the statement says of itself.',
      [register, add, retire, await step(4, 'revoke_key', second.keyId, acme, { at: at(2) })],
      proof,
    ),
    refused(
      'key retired twice',
      'Its end stands.',
      [register, add, retire, await step(4, 'retire_key', acme.keyId, second)],
      'invalid_field',
    ),
    refused(
      'revoked key retired',
      'It has left for good.',
      [register, add, revokeFirst, await step(4, 'retire_key', acme.keyId, second)],
      'invalid_field',
    ),
    refused(
      'compromise made milder',
      'A revocation only grows stricter.',
      [
        register,
        add,
        revokeFirst,
        await step(4, 'revoke_key', acme.keyId, second, { reason: 'superseded', at: at(3) }),
      ],
      'invalid_field',
    ),
    refused(
      'revocation put off',
      'A revocation only grows stricter.',
      [
        register,
        add,
        revokeFirst,
        await step(4, 'revoke_key', acme.keyId, second, { reason: 'compromised' }),
      ],
      'invalid_field',
    ),
    refused(
      'proof where no key comes in',
      'Nothing unsigned rides along.',
      [{ ...register, proof: register.signature ?? null }],
      'invalid_field',
    ),
    refused('statement of another issuer', 'A history is of one DID.', [register, otherDid], 'invalid_field'),
  ];
}

async function badForms(register: JsonObject): Promise<StatementCase[]> {
  const list: readonly (readonly [string, JsonObject])[] = [
    ['unknown member', { ...register, note: 1 }],
    ['unknown member in the statement', withMember(register, 'statement.note', 1)],
    ['sequence 0', withMember(register, 'statement.sequence', 0)],
    ['unknown action', withMember(register, 'statement.action', 'delete')],
    ['handle in upper case', withMember(register, 'statement.did', 'did:svc:Acme')],
    ['handle that ends with a hyphen', withMember(register, 'statement.did', 'did:svc:acme-')],
    ['did:key registered', withMember(register, 'statement.did', acme.keyId)],
    ['date without time', withMember(register, 'statement.at', '2026-01-01')],
    ['spare bits in the signature', { ...register, signature: withSpareBits(textAt(register, 'signature')) }],
    ['signature missing', { ...register, signature: null }],
  ];
  const named = await resigned(
    await resigned(register, 'key_id', `${ACME_DID}:1`, acme),
    'signed_by',
    `${ACME_DID}:1`,
    acme,
  );
  return [
    ...list.map(([name, signed]) =>
      refused(`form: ${name}`, 'The form is wrong.', [signed], 'invalid_field'),
    ),
    refused('key id that is no did:key', 'A statement’s keys certify themselves.', [named], 'invalid_did'),
  ];
}

async function publishedRecords(record: JsonObject): Promise<StatementCase[]> {
  const [first = {}, next = {}] = record.keys as JsonObject[];
  const history = record.history as JsonObject[];
  const check = (name: string, comment: string, document: JsonObject): StatementCase => ({
    name: `record: ${name}`,
    comment,
    document,
    expected: { code: 'issuer_proof_invalid' },
  });
  return [
    {
      name: 'record: as replayed',
      comment: 'Keys follow from the history.',
      document: record,
      expected: { record },
    },
    {
      name: 'record: verified',
      comment: 'The status is its publisher’s word, not the history’s.',
      document: { ...record, status: 'verified' },
      expected: { record: { ...record, status: 'verified' } },
    },
    check('key put in', 'No statement adds it.', { ...record, keys: [first, next, keyRecord(stranger, 1)] }),
    check('retired key made active', 'The history retires it.', {
      ...record,
      keys: [keyRecord(acme, 1), next],
    }),
    check('statement cut off', 'The keys say more than the history.', {
      ...record,
      sequence: 2,
      history: history.slice(0, 2),
    }),
    check('another DID', 'The history is of did:svc:acme.', { ...record, did: 'did:svc:acmf' }),
    check('empty history', 'Nothing is proved.', { ...record, history: [] }),
    check('member added', 'A record says nothing beyond its history.', { ...record, note: 1 }),
  ];
}
