import {
  createSigner,
  formatTimestamp,
  generateSecretKey,
  type IssuerKey,
  toBase64url,
} from '@tallystick/core';
import { describe, expect, test } from 'vitest';
import { agentKeys } from './agent-keys.ts';

const NOW = 1_772_323_200;
const DID = 'did:svc:acme';
const at = (seconds: number) => formatTimestamp(seconds * 1000);
const signer = await createSigner(generateSecretKey());

const KEY: IssuerKey = {
  key_id: `${DID}:k1`,
  public_key: toBase64url(signer.publicKey),
  purpose: 'receipt',
  state: 'active',
  valid_from: at(NOW),
  valid_until: null,
  revoked: null,
};

const keysOf = (key: Partial<IssuerKey>, keyId = DID, did = DID) => {
  const document = { did: DID, status: 'registered', keys: [{ ...KEY, ...key }] } as const;
  const registry = { document: async (asked: string) => (asked === DID ? (document as never) : null) };
  return agentKeys(registry, { did, keyId }, NOW);
};

describe('agentKeys', () => {
  test.each([DID, `${DID}:k1`, `${DID}#k1`])('finds the key in use that %s names', async (keyId) => {
    expect(await keysOf({}, keyId)).toEqual([Uint8Array.from(signer.publicKey)]);
  });

  test('finds the key that a did:key is', async () => {
    expect(await keysOf({}, signer.keyId, signer.keyId)).toEqual([signer.publicKey]);
  });

  test.each<[string, Partial<IssuerKey>, string]>([
    ['not yet in use', { valid_from: at(NOW + 1) }, DID],
    ['no longer in use', { valid_until: at(NOW) }, DID],
    ['revoked', { state: 'revoked' }, DID],
    ['retired', { state: 'retired' }, DID],
    ['for another purpose', { purpose: 'log' }, DID],
    ['another one', {}, `${DID}:k2`],
  ])('takes no key that is %s', async (_, key, keyId) => {
    await expect(keysOf(key, keyId)).rejects.toMatchObject({ code: 'signature_invalid' });
  });
});
