import {
  checkIssuerDocument,
  type JsonObject,
  KEY_PURPOSES,
  type KeyPurpose,
  rootFingerprint,
  trustOf,
  verify,
} from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { anchoredAt, anchors } from '../../core/test/anchored-at.ts';
import { receiptOf } from '../test/keyring-receipts.ts';
import {
  createKeyring,
  holdsRoot,
  type Keyring,
  ROTATION_GRACE,
  revokeKey,
  rotateKey,
  signerFor,
  withApiKeySecret,
} from './keyring.ts';

const DID = 'did:svc:local';
const NOW = Date.UTC(2027, 2, 1);
const MINUTE = 60_000;

const keysOf = ({ document }: Keyring, purpose: KeyPurpose) =>
  document.keys.filter((key) => key.purpose === purpose);

async function judged(receipt: JsonObject, keyring: Keyring, existedAt?: number) {
  const trust = trustOf([keyring.document], anchors);
  const proof = await anchoredAt(receipt, existedAt);
  const { valid, integrity, issuer } = await verify(receipt, { now: NOW + 3_600_000, trust, ...proof });
  return { valid, integrity, trusted: issuer.trusted, key_state: issuer.key_state };
}

describe('keyring', () => {
  it('has one key for each purpose, and all but the root in the record', async () => {
    const keyring = await createKeyring('local', NOW);
    expect(keyring.keys.map(({ purpose }) => purpose).toSorted()).toEqual([...KEY_PURPOSES].toSorted());
    expect(new Set(keyring.keys.map(({ keyId }) => keyId)).size).toBe(KEY_PURPOSES.length);
    expect(keysOf(keyring, 'root')).toEqual([]);
    expect(keyring.document).toMatchObject({ did: DID, status: 'verified' });
    await checkIssuerDocument(keyring.document);
    for (const purpose of KEY_PURPOSES) expect(signerFor(keyring, purpose).keyId).toMatch(/^did:key:/);
    expect(holdsRoot(keyring)).toBe(true);
  });

  it('is named after its root where nobody chose a handle', async () => {
    const keyrings = await Promise.all([createKeyring(null, NOW), createKeyring(null, NOW)]);
    const dids = keyrings.map(({ document }) => document.did);
    const roots = keyrings.map((keyring) => rootFingerprint(signerFor(keyring, 'root').publicKey));
    expect(dids).toEqual(roots.map((root) => `did:svc:local-${root.slice('sha256:'.length, 15)}`));
    expect(new Set(dids).size).toBe(2);
  });

  it.each(KEY_PURPOSES.filter((purpose) => purpose !== 'root' && purpose !== 'log'))(
    'rotates %s: both keys for a minute, then the new one',
    async (purpose) => {
      const before = await createKeyring('local', NOW);
      const after = await rotateKey(before, purpose, NOW + MINUTE);
      await checkIssuerDocument(after.document);
      expect(keysOf(after, purpose)).toMatchObject([
        {
          state: 'retired',
          valid_until: new Date(NOW + MINUTE + ROTATION_GRACE * 1000).toISOString().replace('.000', ''),
        },
        { state: 'active', valid_until: null },
      ]);
      expect(signerFor(after, purpose).keyId).not.toBe(signerFor(before, purpose).keyId);
      expect(before.document.sequence).toBe(KEY_PURPOSES.length - 1);
    },
  );

  it('what the outgoing key signed stays trusted, what it signs past its grace does not', async () => {
    const before = await createKeyring('local', NOW);
    const after = await rotateKey(before, 'receipt', NOW + MINUTE);
    const good = { valid: true, integrity: true, trusted: true };
    expect(await judged(await receiptOf(before, NOW), after)).toMatchObject({
      ...good,
      key_state: 'retired',
    });
    expect(await judged(await receiptOf(before, NOW + MINUTE + 59_000), after)).toMatchObject(good);
    expect(await judged(await receiptOf(before, NOW + MINUTE + 60_000), after)).toMatchObject({
      valid: false,
      integrity: true,
    });
    expect(await judged(await receiptOf(after, NOW + MINUTE), after)).toMatchObject({
      ...good,
      key_state: 'active',
    });
    expect(await judged(await receiptOf(after, NOW), after)).toMatchObject({ valid: false });
  });

  it('rotates many times, and by a key that was rotated in', async () => {
    let keyring = await createKeyring('local', NOW);
    for (let i = 1; i <= 5; i++) keyring = await rotateKey(keyring, 'receipt', NOW + i * 2 * MINUTE);
    await checkIssuerDocument(keyring.document);
    expect(keysOf(keyring, 'receipt').map(({ state }) => state)).toEqual([
      ...Array(5).fill('retired'),
      'active',
    ]);
  });

  it.each([
    ['superseded', true],
    ['compromised', false],
  ] as const)('revokes the present key as %s and goes on with a new one', async (reason, trusted) => {
    const before = await createKeyring('local', NOW);
    const { keyId } = signerFor(before, 'receipt');
    const after = await revokeKey(before, keyId, reason, NOW + MINUTE, NOW + MINUTE);
    await checkIssuerDocument(after.document);
    expect(signerFor(after, 'receipt').keyId).not.toBe(keyId);
    expect(keysOf(after, 'receipt')).toMatchObject([
      { state: 'revoked', revoked: { reason } },
      { state: 'active' },
    ]);
    const old = await receiptOf(before, NOW);
    expect(await judged(old, after)).toMatchObject({ valid: true, trusted });
    expect(await judged(old, after, NOW + 30_000)).toMatchObject({ valid: true, trusted: true });
    expect(await judged(await receiptOf(before, NOW + MINUTE), after)).toMatchObject({
      valid: false,
      trusted: false,
    });
    expect(await judged(await receiptOf(after, NOW + MINUTE), after)).toMatchObject({
      valid: true,
      trusted: true,
    });
  });

  it('neither rotates the root or the log’s key nor revokes a stranger’s key', async () => {
    const keyring = await createKeyring('local', NOW);
    for (const purpose of ['root', 'log'] as const) {
      await expect(rotateKey(keyring, purpose, NOW)).rejects.toMatchObject({
        code: 'invalid_field',
        field: 'purpose',
      });
    }
    const stranger = signerFor(await createKeyring('local', NOW), 'receipt').keyId;
    await expect(revokeKey(keyring, stranger, 'ceased', NOW, NOW)).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'key_id',
    });
  });

  it('says which key is missing where the root is kept apart', async () => {
    const keyring = await createKeyring('local', NOW);
    const online = { ...keyring, keys: keyring.keys.filter(({ purpose }) => purpose !== 'root') };
    expect(holdsRoot(online)).toBe(false);
    expect(() => signerFor(online, 'root')).toThrow('no root key');
    expect(signerFor(online, 'receipt').keyId).toBe(signerFor(keyring, 'receipt').keyId);
  });
});

describe('the secret of API keys', () => {
  it('is made with the keyring, stays over changes, and is made once where there is none', async () => {
    const keyring = await createKeyring('local', NOW);
    expect(keyring.apiKeySecret).toHaveLength(32);
    expect((await createKeyring('local', NOW)).apiKeySecret).not.toEqual(keyring.apiKeySecret);
    expect((await rotateKey(keyring, 'receipt', NOW + MINUTE)).apiKeySecret).toEqual(keyring.apiKeySecret);
    expect(withApiKeySecret(keyring).apiKeySecret).toEqual(keyring.apiKeySecret);
    expect(withApiKeySecret({ ...keyring, apiKeySecret: null }).apiKeySecret).toHaveLength(32);
  });
});
