import { describe, expect, test } from 'vitest';
import {
  added,
  first,
  HOUR,
  nextStatement,
  register,
  second,
  third,
  twoKeys,
} from '../../test/issuer-steps.ts';
import { NOW } from '../../test/sample-receipts.ts';
import { TallyError } from '../errors.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { formatTimestamp } from '../time.ts';
import {
  applyStatement,
  checkIssuerDocument,
  type IssuerDocument,
  readSignedStatement,
} from './statements.ts';

const keyStates = ({ keys }: IssuerDocument): string[] => keys.map(({ state }) => state);
describe('a published record', () => {
  const whole = async (): Promise<IssuerDocument> => {
    let document = await added(await twoKeys(), third, { at: NOW + HOUR });
    document = await applyStatement(
      document,
      await nextStatement(document, { action: 'retire_key', keyId: first.keyId, at: NOW + 2 * HOUR }, second),
    );
    const revoke = {
      action: 'revoke_key',
      keyId: third.keyId,
      reason: 'compromised',
      at: NOW + 3 * HOUR,
    } as const;
    return applyStatement(document, await nextStatement(document, revoke, second));
  };

  test('follows from its history, also as it comes over the wire', async () => {
    const document = await whole();
    expect(keyStates(document)).toEqual(['retired', 'active', 'revoked']);
    await expect(checkIssuerDocument(document)).resolves.toEqual(document);
    await expect(checkIssuerDocument(copyJson(document) as unknown as IssuerDocument)).resolves.toEqual(
      document,
    );
  });

  test('its status is the operator’s word, which no history tells', async () => {
    const verified = { ...(await whole()), status: 'verified' };
    await expect(checkIssuerDocument(verified)).resolves.toEqual(verified);
  });

  const replacements = (value: JsonValue): JsonValue[] => {
    if (typeof value === 'string')
      return [`${value.slice(0, -1)}${value.endsWith('A') ? 'Q' : 'A'}`, `${value}x`, '', null];
    if (typeof value === 'number') return [value + 1, String(value)];
    return [...(value === null ? ['A'.repeat(86), formatTimestamp(NOW), 'superseded'] : [null]), {}];
  };

  /** Every place of the document with something else in it, or without it. */
  function* tampered(value: JsonValue, path = ''): Generator<[path: string, value: JsonValue]> {
    for (const other of replacements(value)) yield [`${path} = ${JSON.stringify(other)}`, other];
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        yield [`${path}[${index}] removed`, value.toSpliced(index, 1)];
        yield [`${path}[${index}] twice`, value.toSpliced(index, 0, item)];
        for (const [at, other] of tampered(item, `${path}[${index}]`)) yield [at, value.with(index, other)];
      }
    } else if (typeof value === 'object' && value !== null) {
      yield [`${path}.more`, { ...value, more: 1 }];
      for (const [name, member] of Object.entries(value)) {
        const { [name]: _removed, ...rest } = value;
        yield [`${path}.${name} removed`, rest];
        for (const [at, other] of tampered(member, `${path}.${name}`))
          yield [at, { ...value, [name]: other }];
      }
    }
  }

  test('every tampering with record or history is refused', async () => {
    const document = copyJson(await whole()) as JsonObject;
    const outcomes: [path: string, outcome: unknown][] = [];
    for (const [path, other] of tampered(document)) {
      const outcome = await checkIssuerDocument(other as unknown as IssuerDocument).catch(
        (error: unknown) => error,
      );
      outcomes.push([path, outcome instanceof TallyError ? 'refused' : outcome]);
    }
    expect(outcomes.length).toBeGreaterThan(300);
    expect(outcomes.filter(([, outcome]) => outcome !== 'refused')).toEqual([]);
  });

  test('another order of its statements is refused', async () => {
    const document = await whole();
    await expect(
      checkIssuerDocument({ ...document, history: document.history.toReversed() }),
    ).rejects.toMatchObject({ code: 'issuer_not_found' });
  });
});

describe('reading a statement', () => {
  test('gives back what was signed', async () => {
    const statement = await register();
    expect(readSignedStatement(copyJson(statement))).toEqual(statement);
  });

  test.each<[field: string, change: JsonObject]>([
    ['statement.type', { type: 'svc-issuer-v1' }],
    ['statement.did', { did: 'did:key:z6Mk' }],
    ['statement.did', { did: 'did:svc:Upper' }],
    ['statement.did', { did: 'did:svc:-x' }],
    ['statement.sequence', { sequence: 0 }],
    ['statement.action', { action: 'verify' }],
    ['statement.purpose', { purpose: 'Any' }],
    ['statement.reason', { reason: 'because' }],
    ['statement.at', { at: 'now' }],
    ['statement.more', { more: 1 }],
  ])('%s is named', async (field, change) => {
    const { statement, ...rest } = copyJson(await register()) as { statement: JsonObject };
    expect(() => readSignedStatement({ ...rest, statement: { ...statement, ...change } })).toThrow(
      expect.objectContaining({ code: 'invalid_field', field }) as Error,
    );
  });

  test('the time is written in whole seconds', async () => {
    expect((await register(NOW + 999)).statement.at).toBe(formatTimestamp(NOW));
  });
});
