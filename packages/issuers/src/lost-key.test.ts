import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkIssuerDocument,
  checkTrustBundle,
  generateSecretKey,
  type JsonObject,
  type Signer,
  signTrustBundle,
  TallyError,
  type TrustPin,
  trustOf,
  vanished,
  verify,
} from '@tallystick/core';
import { nodeSigner } from '@tallystick/kit';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { receiptOf } from '../test/keyring-receipts.ts';
import { createKeyring, type Keyring, revokeKey, rotateKey, signerFor } from './keyring.ts';
import { readKeyring, writeKeyring } from './keyring-file.ts';
import { replaceLostKey, revokeEarlierKey } from './lost-key.ts';
import { openOwnIssuer } from './own-issuer.ts';
import { ownRecord } from './pq-keys.ts';
import type { OpenRemoteKey } from './remote/remote-key.ts';

const NOW = Date.UTC(2027, 2, 1);
const MINUTE = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'tally-lost-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The keys elsewhere, by name; a name without a key is that of a key that was destroyed. */
const elsewhere = new Map<string, Signer>();
beforeEach(() => {
  for (const name of ['receipt', 'head', 'log']) elsewhere.set(name, nodeSigner(generateSecretKey()));
});
const openRemoteKey: OpenRemoteKey = (name) => {
  const key = (): Signer => {
    const found = elsewhere.get(name);
    if (found === undefined) throw new TallyError('unavailable', `There is no key ${name}.`);
    return found;
  };
  return {
    maxMessageBytes: null,
    publicKey: async () => key().publicKey,
    sign: async (message) => key().sign(message),
  };
};

async function keyringWith(...remote: readonly ('receipt' | 'head' | 'log')[]): Promise<Keyring> {
  const names = new Map(remote.map((purpose) => [purpose, purpose] as const));
  return createKeyring('local', NOW, { names, openRemoteKey });
}

const idOf = (keyring: Keyring, purpose: 'receipt' | 'head' | 'log' | 'status'): string =>
  signerFor(keyring, purpose).keyId;
const recorded = (keyring: Keyring, keyId: string) =>
  ownRecord(keyring).keys.filter(({ key_id }) => key_id === keyId);

async function judged(receipt: JsonObject, keyring: Keyring) {
  const trust = trustOf([ownRecord(keyring)]);
  const { valid, issuer } = await verify(receipt, { now: NOW + 60 * MINUTE, trust });
  return { valid, trusted: issuer.trusted, key_state: issuer.key_state };
}

/** The bundle of a keyring, checked against the one before as a client does it. */
async function bundleOf(keyring: Keyring, version: number, pin?: TrustPin) {
  const text = await signTrustBundle(
    {
      version,
      issuers: [ownRecord(keyring)],
      log: null,
      chain: null,
      issuedAt: NOW + version * MINUTE,
      expiresAt: NOW + 90 * 86_400_000,
    },
    signerFor(keyring, 'root'),
  );
  return checkTrustBundle(JSON.parse(text), { now: NOW + 60 * MINUTE, pin });
}

describe('a receipt key that was destroyed where it was kept', () => {
  it('is revoked with its reason, and a new one takes its place; all other keys stay as they were', async () => {
    const first = await keyringWith('receipt', 'head');
    const before = await rotateKey(first, 'status', NOW + MINUTE);
    const lost = idOf(before, 'receipt');
    const old = await receiptOf(before, NOW);
    elsewhere.delete('receipt');
    await expect(rotateKey(before, 'receipt', NOW + 2 * MINUTE)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect(revokeKey(before, lost, 'ceased', NOW + 2 * MINUTE, NOW + 2 * MINUTE)).rejects.toMatchObject(
      { code: 'unavailable' },
    );

    const after = await replaceLostKey(before, lost, 'ceased', NOW + 2 * MINUTE, NOW + 3 * MINUTE);
    await checkIssuerDocument(after.document);
    expect(after.document).toMatchObject({ did: 'did:svc:local', status: 'verified' });
    expect(recorded(after, lost)).toMatchObject([
      {
        state: 'revoked',
        valid_from: '2027-03-01T00:00:00Z',
        revoked: { at: '2027-03-01T00:02:00Z', reason: 'ceased' },
      },
    ]);
    for (const key of before.document.keys.filter(({ key_id }) => key_id !== lost))
      expect(recorded(after, key.key_id)).toEqual([key]);
    expect(await judged(old, after)).toEqual({ valid: true, trusted: true, key_state: 'revoked' });
    expect(await judged(await receiptOf(after, NOW + 3 * MINUTE), after)).toEqual({
      valid: true,
      trusted: true,
      key_state: 'active',
    });

    const { bundle, pin } = await bundleOf(before, 1);
    expect(vanished(bundle, (await bundleOf(after, 2, pin)).bundle)).toEqual([]);
    const again = await rotateKey(after, 'receipt', NOW + 4 * MINUTE);
    expect(recorded(again, lost)).toEqual(recorded(after, lost));
  });

  it('keeps a service from starting until it is revoked, and the file says it afterwards', async () => {
    const path = join(folder, 'keyring.json');
    const before = await keyringWith('receipt');
    writeKeyring(path, before, null);
    elsewhere.delete('receipt');
    await expect(openOwnIssuer(path, null, null, { openRemoteKey })).rejects.toThrow('no key receipt');
    const after = await replaceLostKey(before, idOf(before, 'receipt'), 'ceased', NOW, NOW + MINUTE);
    writeKeyring(path, after, null);
    expect(await readKeyring(path, null, openRemoteKey)).toEqual(after);
    const issuer = await openOwnIssuer(path, null, null, { openRemoteKey });
    expect(issuer.signer('receipt').keyId).toBe(idOf(after, 'receipt'));
  });

  it('takes with it the keys that were destroyed with it, except for the log’s', async () => {
    const before = await keyringWith('receipt', 'head');
    const [lost, head] = [idOf(before, 'receipt'), idOf(before, 'head')];
    elsewhere.clear();
    const after = await replaceLostKey(before, lost, 'ceased', NOW, NOW + MINUTE);
    expect(recorded(after, head)).toMatchObject([{ state: 'retired', valid_until: '2027-03-01T00:02:00Z' }]);
    expect(idOf(after, 'head')).not.toBe(head);
    await signerFor(after, 'head').sign(new Uint8Array(1));

    for (const name of ['receipt', 'log']) elsewhere.set(name, nodeSigner(generateSecretKey()));
    const withLog = await keyringWith('receipt', 'log');
    elsewhere.clear();
    await expect(replaceLostKey(withLog, idOf(withLog, 'receipt'), 'ceased', NOW, NOW)).rejects.toMatchObject(
      { code: 'unavailable', message: expect.stringContaining('names the log') },
    );
  });

  it('can be called compromised later, and never less than that again', async () => {
    const before = await keyringWith('receipt');
    const lost = idOf(before, 'receipt');
    elsewhere.delete('receipt');
    const ceased = await replaceLostKey(before, lost, 'ceased', NOW + MINUTE, NOW + MINUTE);
    const compromised = revokeEarlierKey(ceased, lost, 'compromised', NOW);
    expect(recorded(compromised, lost)).toMatchObject([
      { revoked: { at: '2027-03-01T00:00:00Z', reason: 'compromised' } },
    ]);
    for (const [reason, at] of [
      ['ceased', NOW],
      ['compromised', NOW + MINUTE],
    ] as const)
      expect(() => revokeEarlierKey(compromised, lost, reason, at)).toThrow('can only become stricter');
  });
});

it.each(['receipt', 'status'] as const)('a %s key that can sign is not lost', async (purpose) => {
  const keyring = await keyringWith('receipt');
  await expect(replaceLostKey(keyring, idOf(keyring, purpose), 'ceased', NOW, NOW)).rejects.toMatchObject({
    code: 'invalid_field',
    message: expect.stringContaining('--lost'),
  });
});
