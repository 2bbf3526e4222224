import { readFileSync, writeFileSync } from 'node:fs';
import { checkTrustBundle, type JsonObject, trustOf, verify } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyring } from '../../issuers/src/keyring.ts';
import { readKeyring, writeKeyring } from '../../issuers/src/keyring-file.ts';
import { addPqKey, revokePqKey } from '../../issuers/src/pq-keys.ts';
import { startTestService, type TestService, testClock } from './service.ts';

const PQ = '/v1/receipt/emit?profile=pq';

/** Emits a receipt. */
async function emit(service: TestService, path = PQ): Promise<JsonObject> {
  const { status, json, text } = await service.post(path, { input: 'kept for seven years' });
  expect(status, text).toBe(200);
  return json;
}

async function verdictOf(service: TestService, receipt: JsonObject) {
  const { json } = await service.get('/.well-known/trust.json');
  const { bundle } = await checkTrustBundle(json, { now: service.clock() });
  const trust = trustOf(bundle.issuers, [bundle]);
  const verdict = await verify(receipt, { now: service.clock(), trust });
  const found = Object.fromEntries(verdict.checks.map(({ name, ok }) => [name, ok]));
  return { valid: verdict.valid, trusted: verdict.issuer.trusted, found };
}

describe('with TALLY_PQ_SIGNATURES=on', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env: { TALLY_PQ_SIGNATURES: 'on' } });
  });
  afterAll(() => service.close());

  test('a pq receipt is signed twice, and the bundle lists the key', async () => {
    const receipt = await emit(service);
    expect(receipt).toMatchObject({
      pq_posture: 'ml_dsa_65_signed_experimental',
      crypto_agile_metadata: {
        current_alg: 'Ed25519',
        signature_posture: 'ed25519_and_ml_dsa_65_experimental',
      },
      pq_signature: { alg: 'ML-DSA-65' },
    });
    const { valid, trusted, found } = await verdictOf(service, receipt);
    expect({ valid, trusted }).toEqual({ valid: true, trusted: true });
    expect(found).toMatchObject({ signature: true, pq_signature: true, pq_key_window: true });
  });

  test('the service verifies it as anyone does', async () => {
    const { json } = await service.post('/v1/receipt/verify', await emit(service));
    expect(json).toMatchObject({
      valid: true,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'pq_signature', ok: true })]),
    });
  });

  test('what is changed or taken away shows', async () => {
    const receipt = await emit(service);
    const { pq_signature: _gone, ...stripped } = receipt;
    expect(await verdictOf(service, stripped)).toMatchObject({
      valid: false,
      found: { signature: false, pq_signature: false },
    });
    expect(await verdictOf(service, { ...receipt, auditor_verifier: true })).toMatchObject({
      valid: false,
      found: { signature: false, pq_signature: false },
    });
  });

  test('receipts of the other profiles have one signature', async () => {
    for (const profile of ['nano', 'standard']) {
      expect(await emit(service, `/v1/receipt/emit?profile=${profile}`)).not.toHaveProperty('pq_signature');
    }
  });

  test('the key is kept in an encrypted keyring, is rotated and revoked, and is refused with the secret of another', async () => {
    const { path } = service.config.keyring;
    const keyring = await readKeyring(path, null);
    const rotated = addPqKey(keyring, service.clock());
    const other = `${path}.copy`;
    writeKeyring(other, rotated, 'a passphrase');
    expect(await readKeyring(other, 'a passphrase')).toEqual(rotated);
    expect(rotated.pqKeys.map(({ record }) => record.state)).toEqual(['retired', 'active']);
    const [first, second] = rotated.pqKeys.map(({ record }) => record.key_id);
    const file = readFileSync(other, 'utf8');
    expect([first, second].every((id) => file.includes(String(id)))).toBe(true);
    const before = first ?? '';
    expect(revokePqKey(rotated, before, 'compromised', 0).pqKeys[0]?.record).toMatchObject({
      state: 'revoked',
      revoked: { at: '1970-01-01T00:00:00Z', reason: 'compromised' },
    });
    expect(() => revokePqKey(rotated, 'sha256:none', 'ceased', 0)).toThrow('is not a key of');
    const swapped = JSON.parse(readFileSync(path, 'utf8'));
    const another = addPqKey(await createKeyring('other', 0), 0).pqKeys[0];
    writeKeyring(other, { ...keyring, pqKeys: another === undefined ? [] : [another] }, null);
    swapped.pq_keys[0].secret = JSON.parse(readFileSync(other, 'utf8')).pq_keys[0].secret;
    writeFileSync(other, JSON.stringify(swapped));
    await expect(readKeyring(other, null)).rejects.toThrow('belongs to another key');
  });
});

test('is off by default, and says so', async () => {
  const service = await startTestService();
  const receipt = await emit(service);
  expect(receipt).toMatchObject({ pq_posture: 'declared_not_post_quantum_signed' });
  expect(receipt).not.toHaveProperty('pq_signature');
  expect((await verdictOf(service, receipt)).found).not.toHaveProperty('pq_signature');
  const { json } = await service.get('/.well-known/trust.json');
  expect(JSON.stringify(json)).not.toContain('pq_keys');
  await service.close();
});

test('is refused at start where the keyring has no key for it', async () => {
  const clock = testClock();
  const keyring = await createKeyring('local', clock());
  const started = startTestService({
    clock,
    env: { TALLY_PQ_SIGNATURES: 'on' },
    prepare: (config) => writeKeyring(config.keyring.path, keyring, null),
  });
  await expect(started).rejects.toThrow('tally keys pq');
});
