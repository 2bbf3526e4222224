import { describe, expect, test } from 'vitest';
import {
  added,
  did,
  first,
  foreign,
  HOUR,
  nextStatement,
  register,
  registered,
  second,
  third,
  twoKeys,
} from '../../test/issuer-steps.ts';
import { keyOf, NOW } from '../../test/sample-receipts.ts';
import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { formatTimestamp } from '../time.ts';
import {
  applyStatement,
  checkIssuerDocument,
  type IssuerDocument,
  type SignedStatement,
  type StatementFacts,
} from './statements.ts';

/** A timestamp so many hours from now. */
const hours = (offset: number): string => formatTimestamp(NOW + offset * HOUR);

const keyStates = ({ keys }: IssuerDocument): string[] => keys.map(({ state }) => state);
const refusal = (code: string, field?: string): unknown =>
  expect.objectContaining(field === undefined ? { code } : { code, field });

describe('the life of an issuer’s keys', () => {
  test('register: proof of possession, not yet verified', async () => {
    const document = await registered();
    expect(document).toMatchObject({ type: 'svc-issuer-v1', did, status: 'registered', sequence: 1 });
    expect(document.keys).toEqual([keyOf(first, { valid_from: hours(0) })]);
    await checkIssuerDocument(document);
  });

  test('add: the new key consents, and signs from then on', async () => {
    const document = await added(await registered(), second, { at: NOW + HOUR, purpose: 'log' });
    expect(document.keys).toEqual([
      keyOf(first, { valid_from: hours(0) }),
      keyOf(second, { valid_from: hours(1), purpose: 'log' }),
    ]);
    await checkIssuerDocument(document);
  });

  test('retire: the key signs until then', async () => {
    const before = await twoKeys();
    const document = await applyStatement(
      before,
      await nextStatement(before, { action: 'retire_key', keyId: first.keyId, at: NOW + HOUR }, second),
    );
    expect(document.keys[0]).toMatchObject({ state: 'retired', valid_until: hours(1), revoked: null });
    expect(document.keys[1]).toEqual(before.keys[1]);
    await checkIssuerDocument(document);
  });

  test('revoke: the reason and the time, which may be in the past', async () => {
    const before = await twoKeys();
    const step = { action: 'revoke_key', keyId: first.keyId, reason: 'compromised', at: NOW - HOUR } as const;
    const document = await applyStatement(before, await nextStatement(before, step, second));
    expect(document.keys[0]).toMatchObject({
      state: 'revoked',
      revoked: { at: hours(-1), reason: 'compromised' },
    });
    await checkIssuerDocument(document);
  });

  test('revoke without a reason is unspecified', async () => {
    const before = await twoKeys();
    const document = await applyStatement(
      before,
      await nextStatement(before, { action: 'revoke_key', keyId: first.keyId }, second),
    );
    expect(document.keys[0]?.revoked?.reason).toBe('unspecified');
  });

  test('a key may retire and revoke itself', async () => {
    const before = await twoKeys();
    for (const action of ['retire_key', 'revoke_key'] as const) {
      const document = await applyStatement(
        before,
        await nextStatement(before, { action, keyId: first.keyId }, first),
      );
      expect(keyStates(document)).toEqual([action === 'retire_key' ? 'retired' : 'revoked', 'active']);
    }
  });

  test('the record before is not changed', async () => {
    const before = await twoKeys();
    const copy = structuredClone(before);
    await applyStatement(
      before,
      await nextStatement(before, { action: 'retire_key', keyId: first.keyId }, second),
    );
    expect(before).toEqual(copy);
  });
});

describe('who may sign', () => {
  const attempts = (document: IssuerDocument, signer: Signer, at: number): Promise<SignedStatement>[] => [
    nextStatement(document, { action: 'add_key', keyId: third.keyId, at }, signer, third),
    nextStatement(document, { action: 'retire_key', keyId: second.keyId, at }, signer),
    nextStatement(document, { action: 'revoke_key', keyId: second.keyId, at }, signer),
  ];
  /** What comes of each attempt: `done`, or the code and field of the refusal. */
  const outcomes = (document: IssuerDocument, signer: Signer, at = NOW): Promise<string[]> =>
    Promise.all(
      attempts(document, signer, at).map(async (attempt) =>
        applyStatement(document, await attempt).then(
          () => 'done',
          (error: unknown) => (error instanceof TallyError ? `${error.code} ${error.field}` : String(error)),
        ),
      ),
    );
  const refused = Array.from({ length: 3 }, () => 'issuer_proof_invalid statement.signed_by');

  test('a present receipt key', async () => {
    const document = await twoKeys();
    expect(await outcomes(document, first)).toEqual(['done', 'done', 'done']);
  });

  test('no foreign key', async () => {
    expect(await outcomes(await twoKeys(), foreign)).toEqual(refused);
  });

  test('no key that comes in', async () => {
    expect(await outcomes(await twoKeys(), third)).toEqual(refused);
  });

  test('no key of another purpose', async () => {
    expect(await outcomes(await added(await twoKeys(), foreign, { purpose: 'log' }), foreign)).toEqual(
      refused,
    );
  });

  test('no retired key, whatever time it writes', async () => {
    const before = await twoKeys();
    const document = await applyStatement(
      before,
      await nextStatement(before, { action: 'retire_key', keyId: first.keyId }, second),
    );
    for (const at of [NOW - 2 * HOUR, NOW - 1000, NOW, NOW + HOUR])
      expect(await outcomes(document, first, at)).toEqual(refused);
  });

  test('no revoked key, whatever time it writes', async () => {
    const before = await twoKeys();
    const document = await applyStatement(
      before,
      await nextStatement(before, { action: 'revoke_key', keyId: first.keyId, at: NOW + HOUR }, second),
    );
    for (const at of [NOW - 2 * HOUR, NOW, NOW + 2 * HOUR])
      expect(await outcomes(document, first, at)).toEqual(refused);
  });

  test('only the key itself registers', async () => {
    const statement = await nextStatement(null, { action: 'register', keyId: first.keyId }, foreign);
    await expect(applyStatement(null, statement)).rejects.toEqual(
      refusal('invalid_field', 'statement.signed_by'),
    );
  });

  test('the signature is of the key that it names', async () => {
    const document = await twoKeys();
    const statement = await nextStatement(document, { action: 'retire_key', keyId: second.keyId }, first);
    const signature = toBase64url(await foreign.sign(canonicalBytes({ ...statement.statement })));
    const forged = { ...statement, signature };
    await expect(applyStatement(document, forged)).rejects.toEqual(
      refusal('issuer_proof_invalid', 'signature'),
    );
  });
});

describe('proof of possession', () => {
  test('a key comes in with its own signature', async () => {
    const document = await registered();
    const step = { action: 'add_key', keyId: second.keyId } as const;
    for (const incoming of [undefined, first, foreign]) {
      const statement = await nextStatement(document, step, first, incoming);
      await expect(applyStatement(document, statement)).rejects.toEqual(
        refusal('issuer_proof_invalid', 'proof'),
      );
    }
    await expect(
      applyStatement(document, await nextStatement(document, step, first, second)),
    ).resolves.toBeDefined();
  });

  test('made for this statement, not for another', async () => {
    const document = await registered();
    const earlier = await nextStatement(
      document,
      { action: 'add_key', keyId: second.keyId, at: NOW - HOUR },
      first,
      second,
    );
    const now = await nextStatement(document, { action: 'add_key', keyId: second.keyId }, first, second);
    await expect(applyStatement(document, { ...now, proof: earlier.proof })).rejects.toEqual(
      refusal('issuer_proof_invalid', 'proof'),
    );
  });

  test('where no key comes in there is no proof: nothing in a history is unsigned', async () => {
    const document = await twoKeys();
    for (const action of ['retire_key', 'revoke_key'] as const) {
      const statement = await nextStatement(document, { action, keyId: second.keyId }, first, second);
      expect(statement.proof).not.toBeNull();
      await expect(applyStatement(document, statement)).rejects.toEqual(refusal('invalid_field', 'proof'));
    }
    const { signature } = await register();
    await expect(applyStatement(null, { ...(await register()), proof: signature })).rejects.toEqual(
      refusal('invalid_field', 'proof'),
    );
  });
});

describe('the place in the history', () => {
  test.each([0, 1, 3, 100])('number %i is not the next of a record with one statement', async (sequence) => {
    const document = await registered();
    const statement = await nextStatement(
      document,
      { action: 'add_key', keyId: second.keyId, sequence },
      first,
      second,
    );
    await expect(applyStatement(document, statement)).rejects.toEqual(
      refusal('issuer_conflict', 'statement.sequence'),
    );
  });

  test('a statement can’t be replayed', async () => {
    const document = await registered();
    const add = await nextStatement(document, { action: 'add_key', keyId: second.keyId }, first, second);
    await expect(applyStatement(await applyStatement(document, add), add)).rejects.toEqual(
      refusal('issuer_conflict'),
    );
  });

  test('a handle is registered once', async () => {
    const again = await nextStatement(null, { action: 'register', keyId: foreign.keyId }, foreign);
    await expect(applyStatement(await registered(), again)).rejects.toEqual(refusal('issuer_exists'));
  });

  test('nothing comes before the registration', async () => {
    const statement = await nextStatement(null, { action: 'add_key', keyId: second.keyId }, first, second);
    await expect(applyStatement(null, statement)).rejects.toEqual(refusal('issuer_not_found'));
  });

  test('a statement of another DID has no place in it', async () => {
    const document = await registered();
    const statement = await nextStatement(
      document,
      { action: 'add_key', keyId: second.keyId, did: 'did:svc:other' },
      first,
      second,
    );
    await expect(applyStatement(document, statement)).rejects.toEqual(
      refusal('invalid_field', 'statement.did'),
    );
  });
});

describe('a key leaves for good', () => {
  const leave = async (
    document: IssuerDocument,
    step: Partial<StatementFacts> & Pick<StatementFacts, 'action'>,
  ) => applyStatement(document, await nextStatement(document, { keyId: second.keyId, ...step }, first));

  test('it comes in once', async () => {
    const document = await twoKeys();
    await expect(added(document, second)).rejects.toEqual(refusal('invalid_field', 'statement.key_id'));
    await expect(added(await leave(document, { action: 'retire_key' }), second)).rejects.toEqual(
      refusal('invalid_field', 'statement.key_id'),
    );
  });

  test.each(['retire_key', 'revoke_key'] as const)('%s of a key that is not there', async (action) => {
    await expect(leave(await registered(), { action })).rejects.toEqual(
      refusal('invalid_field', 'statement.key_id'),
    );
  });

  test('a retired key is not retired again, which would lengthen its time', async () => {
    const document = await leave(await twoKeys(), { action: 'retire_key' });
    await expect(leave(document, { action: 'retire_key', at: NOW + HOUR })).rejects.toEqual(
      refusal('invalid_field', 'statement.key_id'),
    );
  });

  test('a revoked key is not retired, which would hide the revocation', async () => {
    const document = await leave(await twoKeys(), { action: 'revoke_key' });
    await expect(leave(document, { action: 'retire_key' })).rejects.toEqual(
      refusal('invalid_field', 'statement.key_id'),
    );
  });

  test('a retired key can still be revoked', async () => {
    const retired = await leave(await twoKeys(), { action: 'retire_key', at: NOW - HOUR });
    const document = await leave(retired, { action: 'revoke_key', reason: 'compromised' });
    expect(document.keys[1]).toMatchObject({
      state: 'revoked',
      valid_until: hours(-1),
      revoked: { reason: 'compromised' },
    });
    await checkIssuerDocument(document);
  });

  test('a revocation can only grow stricter: never a later time, never a milder reason', async () => {
    const superseded = await leave(await twoKeys(), { action: 'revoke_key', reason: 'superseded' });
    const compromised = await leave(superseded, {
      action: 'revoke_key',
      reason: 'compromised',
      at: NOW - HOUR,
    });
    expect(compromised.keys[1]?.revoked).toEqual({ at: hours(-1), reason: 'compromised' });
    await checkIssuerDocument(compromised);
    for (const step of [
      { reason: 'superseded', at: NOW - HOUR },
      { reason: 'compromised', at: NOW },
    ] as const) {
      await expect(leave(compromised, { action: 'revoke_key', ...step })).rejects.toEqual(
        refusal('invalid_field'),
      );
    }
  });
});
